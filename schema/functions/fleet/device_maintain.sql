-- A person takes a device out of the schedule to work on it. What runs on it goes on. False: it was out for that
-- already.
create or replace function weir.device_maintain(serial text, by text default null, reason text default null,
  at timestamptz default null)
returns boolean
language sql security definer
set search_path = weir, pg_temp
as $$
  select weir._device_command(serial, 'maintenance', array['good', 'unknown', 'suspect', 'quarantined'],
    'taken out for maintenance', by, reason, weir._clock(at))
$$;
comment on function weir.device_maintain is 'Takes a device out of the schedule for maintenance.';
