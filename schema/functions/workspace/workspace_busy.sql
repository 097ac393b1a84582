-- A workspace is busy although nobody touches it, such as with a build: it is not stopped before then. That lasts as
-- long as was asked for, but not longer than the policy allows after its last use, so that what keeps itself busy ends,
-- too. Zero gives it back. Returns until when.
create or replace function weir.workspace_busy(workspace uuid, lasts interval, by text default null,
  reason text default null, at timestamptz default null)
returns timestamptz
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workspace_busy.at);
  w weir.workspaces;
  ends timestamptz;
begin
  if lasts is null or lasts < interval '0 s' then
    perform weir._invalid('lasts', 'how long it is busy, or 0 to give that back');
  end if;
  perform weir._check(weir._bad_span('lasts', lasts, true));
  select * into w from weir.workspaces x where x.id = workspace_busy.workspace and x.deleted_at is null
  for no key update;
  if not found then
    perform weir._not_found('workspace', workspace_busy.workspace::text);
  end if;
  select least(t + lasts, greatest(w.last_access_at + p.busy_most, t)) into ends from weir.workspace_policy p;
  if lasts > interval '0 s' and ends <= t then
    perform weir._conflict('nobody has used it since %s, and it was busy as long as it may be',
      jsonb_build_array(to_char(w.last_access_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS UTC')),
      hint => 'use it, or let the policy allow more: busy_most');
  end if;
  update weir.workspaces x set busy_until = case when lasts > interval '0 s' then ends end where x.id = w.id;
  insert into weir.events (at, type, kind, subject, source, message, data)
  values (t, 'busy', 'workspace', w.id, workspace_busy.by, weir._text(workspace_busy.reason),
    jsonb_strip_nulls(jsonb_build_object('until', case when lasts > interval '0 s' then ends end)));
  return ends;
end $$;
comment on function weir.workspace_busy is 'Keeps a workspace from being stopped for a while.';
