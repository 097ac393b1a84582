-- The run succeeded. Returns the row; nothing but nulls and a warning if the report came too late. The same report
-- again is fine.
create or replace function fleet.complete_task_device(task_device_id uuid, pc text, result jsonb default null,
  attempt int default null, at timestamptz default null)
  returns fleet.task_devices
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  has record;
  row fleet.task_devices;
begin
  select * into has
  from weir._fleet_find_lease('complete', task_device_id, complete_task_device.pc, complete_task_device.attempt,
    weir._clock(complete_task_device.at));
  if has.attempt is null then
    return null;
  end if;
  perform weir.finish(task_device_id, has.attempt, has.token, complete_task_device.result,
    at => complete_task_device.at)
  where not has.repeated;
  select * into row from fleet.task_devices d where d.id = task_device_id;
  if not found then
    -- A health task is there only while it runs.
    row.id := task_device_id; row.pc_id := complete_task_device.pc; row.status := 'completed';
    row.attempt := has.attempt;
  end if;
  return row;
end $$;
comment on function fleet.complete_task_device is 'Ends a run as completed.';
