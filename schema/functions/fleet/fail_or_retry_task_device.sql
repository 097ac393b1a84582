-- The attempt failed. Returns the row: pending if it is tried again, failed if that was the last one (FAILED_FINAL; its
-- device is error then). Nothing but nulls and a warning if the report came too late.
-- The same report again is fine.
create or replace function fleet.fail_or_retry_task_device(task_device_id uuid, pc text, error text default null,
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
  from weir._fleet_find_lease('fail', task_device_id, fail_or_retry_task_device.pc, fail_or_retry_task_device.attempt,
    weir._clock(fail_or_retry_task_device.at));
  if has.attempt is null then
    return null;
  end if;
  perform weir.fail(task_device_id, has.attempt, has.token,
    coalesce(fail_or_retry_task_device.error, 'no reason given'), at => fail_or_retry_task_device.at)
  where not has.repeated;
  select * into row from fleet.task_devices d where d.id = task_device_id;
  if not found then
    -- A health task is there only while it runs.
    row.id := task_device_id; row.pc_id := fail_or_retry_task_device.pc; row.status := 'failed';
    row.attempt := has.attempt;
  end if;
  return row;
end $$;
comment on function fleet.fail_or_retry_task_device is
  'Ends an attempt as failed: it is tried again, or has failed for good.';
