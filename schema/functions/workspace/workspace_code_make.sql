-- Lets a user into a workspace: notes the hash of a code that works once, for a moment, on one host. Whoever calls has
-- seen that the user may. What is over is swept meanwhile.
create or replace function weir.workspace_code_make(workspace uuid, user_id uuid, hash bytea, host text,
  session uuid default null, token uuid default null, lasts interval default '30 s',
  at timestamptz default null)
returns timestamptz
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workspace_code_make.at);
  until timestamptz := t + least(lasts, interval '30 s');
begin
  delete from weir.workspace_codes c
  where c.hash in (select x.hash from weir.workspace_codes x where x.expires_at < t limit 100 for update skip locked);
  delete from weir.workspace_visits v
  where v.hash in (select x.hash from weir.workspace_visits x where x.expires_at < t limit 100 for update skip locked);
  insert into weir.workspace_codes (hash, workspace, user_id, role, session, token, host, expires_at)
  select workspace_code_make.hash, w.id, u.id, u.role, workspace_code_make.session, workspace_code_make.token,
    workspace_code_make.host, until
  from weir.workspaces w, weir.users u
  where w.id = workspace_code_make.workspace and w.deleted_at is null and u.id = workspace_code_make.user_id
    and u.disabled_at is null and (w.owner = u.id or u.role = 'admin');
  if not found then
    perform weir._not_found('workspace', workspace_code_make.workspace::text);
  end if;
  return until;
end $$;
comment on function weir.workspace_code_make is 'Notes a code that opens a workspace once.';
