-- Who is inside: the user of a visit, as long as it lasts. It ends with its session or token, when the user is
-- disabled, gets another role, or is no longer owner or admin. used: somebody did something, which counts as use of the
-- session, too.
create or replace function weir.workspace_visit(hash bytea, host text, used boolean default false,
  at timestamptz default null, out workspace uuid, out user_id uuid, out name text)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workspace_visit.at);
  session uuid;
begin
  select v.workspace, u.id, u.name, v.session
  into workspace_visit.workspace, workspace_visit.user_id, workspace_visit.name, session
  from weir.workspace_visits v join weir.users u on u.id = v.user_id join weir.workspaces w on w.id = v.workspace
    left join weir.sessions s on s.id = v.session left join weir.tokens k on k.id = v.token
  where v.hash = workspace_visit.hash and v.host = workspace_visit.host and v.expires_at > t and u.disabled_at is null
    and u.role = v.role and (w.owner = u.id or u.role = 'admin')
    and coalesce(s.expires_at, 'infinity') > t and coalesce(k.expires_at, 'infinity') > t;
  if found and used and session is not null then
    update weir.sessions s set seen_at = t where s.id = session and s.seen_at < t - interval '1 min';
  end if;
end $$;
comment on function weir.workspace_visit is 'Who is inside a workspace with this cookie. Null: nobody.';
