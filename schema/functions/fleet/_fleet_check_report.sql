-- Refuses a report of devices that is of the wrong form. What each device says of itself is looked at when it is new:
-- see weir._device_valid.
create or replace function weir._fleet_check_report(devices jsonb) returns void
language plpgsql stable
as $$
declare
  bad record;
begin
  if jsonb_typeof(devices) is distinct from 'array' or jsonb_array_length(devices) > 1000 then
    perform weir._invalid('devices', 'expected an array of at most 1,000 devices',
      hint => 'each is an object with serial and, if you like, target, hub and labels');
  end if;
  select x.value into bad from jsonb_array_elements(devices) x where jsonb_typeof(x.value) <> 'object' limit 1;
  if found then
    perform weir._invalid('devices', '%s is no object with a serial', jsonb_build_array(left(bad.value::text, 60)));
  end if;
  select x.value ->> 'serial' as serial into bad from jsonb_array_elements(devices) x
  where x.value ->> 'serial' is not null group by 1 having count(*) > 1 limit 1;
  if found then
    perform weir._invalid('devices', '%s is there twice', jsonb_build_array(bad.serial),
      hint => 'a serial is one device: look which of the two is wrong');
  end if;
end $$;
comment on function weir._fleet_check_report is 'WR422 unless it is a report of devices.';
