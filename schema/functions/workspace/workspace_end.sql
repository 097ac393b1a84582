-- Notes that an operation is complete (reason null), or that a try of it failed. After so many tries, or for a reason
-- that will not heal (terminal), the workspace is in error: phase, operation and reason at once, until a person
-- recovers it. Before that it is tried again, after a while that grows. Without an operation only a terminal reason can
-- be noted, and only as long as nobody has wanted something else since the look that found it (wanted). False: the
-- operation is over already.
create or replace function weir.workspace_end(workspace uuid, op_id uuid, reason text default null,
  message text default null, terminal boolean default false, tries int default 3,
  wanted bigint default null, at timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workspace_end.at);
  w weir.workspaces;
  fatal text;
begin
  select * into w from weir.workspaces x
  where x.id = workspace_end.workspace and x.op_id is not distinct from workspace_end.op_id for no key update;
  if not found
    or w.op_id is null
      and (workspace_end.reason is null or not workspace_end.terminal
        or w.generation <> coalesce(wanted, w.generation)) then
    return false;
  end if;
  fatal := case when workspace_end.reason is null then null when workspace_end.terminal then workspace_end.reason
    when w.error_count + 1 >= tries then 'RetryExceeded' end;
  if workspace_end.reason is not null and fatal is null then
    update weir.workspaces x
    set error_count = x.error_count + 1, error_reason = workspace_end.reason,
      error_message = weir._text(workspace_end.message),
      op_retry_at = t + weir._backoff(x.error_count + 1, interval '5 s', interval '5 min', luck => 0.5 + random() / 2)
    where x.id = w.id;
  else
    update weir.workspaces x
    set operation = 'NONE', op_id = null, op_started_at = null, op_progress_at = null, op_progress = null,
      op_retry_at = null, phase = case when fatal is null then x.phase else 'ERROR' end,
      phase_changed_at = case when fatal is null or x.phase = 'ERROR' then x.phase_changed_at else t end,
      error_count = case when fatal is null then 0 else x.error_count + 1 end, error_reason = fatal,
      error_message = case when fatal is not null then weir._text(workspace_end.message) end
    where x.id = w.id;
  end if;
  -- It can be used from now on, and not since it was asked for: to bring a home back takes its time. What starts again
  -- by itself was not asked for.
  if workspace_end.reason is null and w.operation = 'STARTING' and w.started_generation <> w.generation then
    update weir.workspaces x set started_generation = x.generation where x.id = w.id;
    perform weir.workspace_touch(array[w.id], array[t], array['start']);
  end if;
  insert into weir.events (at, type, kind, subject, level, message, data)
  values (t, case when workspace_end.reason is null then 'completed' else 'failed' end, 'workspace', w.id,
    case when fatal is not null then 'error' when workspace_end.reason is not null then 'warn' end,
    weir._text(coalesce(workspace_end.message, w.operation)),
    jsonb_strip_nulls(jsonb_build_object('operation', w.operation, 'op_id', w.op_id,
        'reason', coalesce(fatal, workspace_end.reason),
      'cause', case when fatal = 'RetryExceeded' then workspace_end.reason end,
      'try', case when workspace_end.reason is not null and w.op_id is not null then w.error_count + 1 end,
      'took', case when w.op_started_at is not null then extract(epoch from t - w.op_started_at) end)));
  return true;
end $$;
comment on function weir.workspace_end is 'An operation is complete, or a try of it failed.';
