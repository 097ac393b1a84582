-- A device is gone for good: it is in no target any more. What runs on it goes on; what waits for it is missed. False:
-- it was retired already.
create or replace function weir.device_retire(serial text, by text default null, reason text default null,
  at timestamptz default null)
returns boolean
language sql security definer
set search_path = weir, pg_temp
as $$
  select weir._device_command(serial, 'retired', array['good', 'unknown', 'suspect', 'quarantined', 'maintenance'],
    'retired', by, reason, weir._clock(at))
$$;
comment on function weir.device_retire is 'Takes a device out for good.';
