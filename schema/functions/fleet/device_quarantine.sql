-- A person puts a device out, as a run that failed for good does. What runs on it goes on. Its health task, if there is
-- one, brings it back. False: it was out already.
create or replace function weir.device_quarantine(serial text, by text default null, reason text default null,
  at timestamptz default null)
returns boolean
language sql security definer
set search_path = weir, pg_temp
as $$
  select weir._device_command(serial, 'quarantined', array['good', 'unknown', 'suspect'], 'quarantined', by, reason,
    weir._clock(at))
$$;
comment on function weir.device_quarantine is 'Puts a device out.';
