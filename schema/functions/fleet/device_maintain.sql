-- A person takes a device out of the schedule to work on it. What runs on it goes on. until: when it is released by
-- itself; null: a person does it. False: it was out for that already, until then.
create or replace function weir.device_maintain(serial text, by text default null, reason text default null,
  until timestamptz default null, at timestamptz default null)
returns boolean
language sql security definer
set search_path = weir, pg_temp
as $$
  select weir._device_command(serial, 'maintenance', array['good', 'unknown', 'suspect', 'quarantined', 'maintenance'],
    'taken out for maintenance', by, reason, weir._clock(at), until)
$$;
comment on function weir.device_maintain is 'Takes a device out of the schedule for maintenance.';
