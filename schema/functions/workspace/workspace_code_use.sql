-- Turns a code into a visit. Of two who use it at once, one deletes the row and the other finds none. Null: it opens
-- nothing here, or nothing any more; which of the two is not told.
-- A code on the wrong host is used up all the same: somebody has it who should not.
create or replace function weir.workspace_code_use(code bytea, host text, visit bytea, lasts interval default '7 days',
  at timestamptz default null)
returns uuid
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workspace_code_use.at);
  c weir.workspace_codes;
  until timestamptz;
begin
  delete from weir.workspace_codes x where x.hash = workspace_code_use.code returning * into c;
  if not found or c.expires_at <= t or c.host <> workspace_code_use.host then
    return null;
  end if;
  select least(t + lasts, coalesce(s.expires_at, 'infinity'), coalesce(k.expires_at, 'infinity'),
    case when c.session is null then t + interval '12 hours' else 'infinity' end)
  into until
  from weir.users u left join weir.sessions s on s.id = c.session left join weir.tokens k on k.id = c.token
  where u.id = c.user_id and u.disabled_at is null and u.role = c.role;
  if until is null or until <= t then
    return null;
  end if;
  insert into weir.workspace_visits (hash, workspace, user_id, role, session, token, host, created_at, expires_at)
  values (workspace_code_use.visit, c.workspace, c.user_id, c.role, c.session, c.token, c.host, t, until);
  insert into weir.events (at, type, kind, subject, source, message)
  values (t, 'entered', 'workspace', c.workspace, (select u.name from weir.users u where u.id = c.user_id),
    case when c.token is null then 'a browser came in' else 'a program came in' end);
  return c.workspace;
end $$;
comment on function weir.workspace_code_use is 'Turns a code into a visit.';
