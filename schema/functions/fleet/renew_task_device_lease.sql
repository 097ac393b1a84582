-- The PC is still at work. Also its heartbeat. Returns the row, with cancel_requested if it should stop; nothing but
-- nulls and a warning if the lease is lost.
create or replace function fleet.renew_task_device_lease(task_device_id uuid, pc text, lease interval default '45 s',
  attempt int default null, at timestamptz default null)
  returns fleet.task_devices
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(renew_task_device_lease.at);
  has record;
  row fleet.task_devices;
begin
  if coalesce(renew_task_device_lease.lease, '0') <= interval '0' then
    perform weir._invalid('lease', 'it must be positive');
  end if;
  -- A PC before its leases: see weir.fleet_report.
  update weir.nodes n set seen_at = greatest(n.seen_at, t)
  where n.name = renew_task_device_lease.pc and n.seen_at < t - interval '10 s';
  select * into has
  from weir._fleet_find_lease('renew', task_device_id, renew_task_device_lease.pc, renew_task_device_lease.attempt, t);
  if has.token is null then
    return null;
  end if;
  perform weir.renew(renew_task_device_lease.pc, array[task_device_id], array[has.attempt], array[has.token],
    renew_task_device_lease.lease, at => renew_task_device_lease.at);
  select * into row from fleet.task_devices d where d.id = task_device_id;
  return row;
end $$;
comment on function fleet.renew_task_device_lease is 'Prolongs the lease of a run.';
