-- The one way to want something else of a workspace. While an operation is under way nothing else can be wanted: WR409,
-- try again. expected: what was wanted when the caller looked; if that has changed, WR409. One in error can be told to
-- rest if its container was not seen last: it keeps its error, and no place of the limit. Returns whether it changed
-- anything.
create or replace function weir.workspace_want(workspace uuid, want text, by text default null,
  expected text default null, reason text default null, at timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workspace_want.at);
  w weir.workspaces;
begin
  if want is null or want not in ('ARCHIVED', 'STANDBY', 'RUNNING', 'DELETED') then
    perform weir._invalid('desired', 'ARCHIVED, STANDBY, RUNNING or DELETED');
  end if;
  select * into w from weir.workspaces x where x.id = workspace_want.workspace for no key update;
  if not found or w.deleted_at is not null and want <> 'DELETED' then
    perform weir._not_found('workspace', workspace_want.workspace::text);
  end if;
  if expected is not null and w.desired <> expected then
    perform weir._conflict('%s is wanted by now, not %s', jsonb_build_array(w.desired, expected), hint => 'look again');
  end if;
  if w.desired = want then
    return false;
  end if;
  if w.operation <> 'NONE' then
    perform weir._conflict('%s is under way since %s',
      jsonb_build_array(w.operation, to_char(w.op_started_at at time zone 'UTC', 'HH24:MI:SS UTC')),
      hint => 'try again when that is done');
  end if;
  if w.phase = 'ERROR' and w.error_reason is not null and want <> 'DELETED'
    and (want = 'RUNNING' or coalesce((w.conditions -> 'infra.container_ready' ->> 'status')::boolean, false)) then
    perform weir._conflict('it is in error: %s', jsonb_build_array(concat_ws(', ', w.error_reason, w.error_message)),
      hint => 'recover it first', command => 'weir workspace recover ' || w.name);
  end if;
  if want = 'RUNNING' then
    perform weir._workspace_room(w.owner, w.id);
  end if;
  update weir.workspaces x
  set desired = want, desired_by = workspace_want.by, desired_at = t, generation = x.generation + 1,
    deleted_at = case want when 'DELETED' then t end,
    last_access_at = case want when 'RUNNING' then greatest(x.last_access_at, t) else x.last_access_at end,
    last_activity = case want when 'RUNNING' then 'start' else x.last_activity end
  where x.id = w.id;
  insert into weir.events (at, type, kind, subject, source, message, data)
  values (t, 'wanted', 'workspace', w.id, workspace_want.by, weir._text(workspace_want.reason),
    jsonb_build_object('was', w.desired, 'desired', want));
  perform pg_notify('weir_workspace', w.id::text);
  return true;
end $$;
comment on function weir.workspace_want is
  'Wants another phase of a workspace. Refused while an operation is under way.';
