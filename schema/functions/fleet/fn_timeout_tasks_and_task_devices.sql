-- What time alone brings about: attempts over their timeout, leases that ran out, retries that are due, devices and PCs
-- that stay away, tasks that cannot come further. A server does the same all the time; without one a timer calls this.
-- One pass, and returns how many it ended. Attempts and devices are locked in another order, so a pass that had
-- attempts to end leaves devices to the next one.
create or replace function fleet.fn_timeout_tasks_and_task_devices(at timestamptz default null) returns int
language plpgsql security definer
set search_path = weir, pg_temp
as $$
declare
  late record;
  gone record;
begin
  select * into late from weir.tend(at => fn_timeout_tasks_and_task_devices.at);
  if late.expired + late.opened > 0 then
    return late.expired;
  end if;
  select * into gone from weir.fleet_tend(at => fn_timeout_tasks_and_task_devices.at);
  return gone.missed;
end $$;
comment on function fleet.fn_timeout_tasks_and_task_devices is 'One pass of what time brings about.';
