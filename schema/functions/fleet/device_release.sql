-- A person gives a device back to the schedule, from quarantine, maintenance or suspicion, or after it was retired by
-- mistake. Where there is a health task, the device has to pass it first. False: it was released already.
create or replace function weir.device_release(serial text, by text default null, reason text default null,
  at timestamptz default null)
returns boolean
language sql security definer
set search_path = weir, pg_temp
as $$
  select weir._device_command(serial,
    case when (select f.health from weir.fleet_policy f) is null then 'good' else 'unknown' end,
    array['quarantined', 'maintenance', 'suspect', 'retired'], 'released', by, reason, weir._clock(at))
$$;
comment on function weir.device_release is 'Gives a device back to the schedule.';
