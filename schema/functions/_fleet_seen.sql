-- Refuses a report of devices that is of the wrong form, with the device and the fix.
create or replace function weir._fleet_seen(devices jsonb) returns void
language plpgsql stable
as $$
declare
  bad record;
begin
  if jsonb_typeof(devices) is distinct from 'array' or jsonb_array_length(devices) > 1000 then
    perform weir._invalid('devices: expected an array of at most 1,000 devices', 'each is an object with serial and, if you like, target, hub and labels');
  end if;
  select x.value into bad from jsonb_array_elements(devices) x where jsonb_typeof(x.value) <> 'object' limit 1;
  if found then
    perform weir._invalid(format('devices: %s is no object with a serial', left(bad.value::text, 60)));
  end if;
  select x.serial, x.target, x.hub, x.labels into bad from jsonb_to_recordset(devices) x (serial text, target text, hub text, labels jsonb)
  where coalesce(x.serial !~ '^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}$', true) or length(x.target) > 256 or length(x.hub) > 128 or jsonb_typeof(x.labels) not in ('object', 'null')
    or exists (select from jsonb_each(case when jsonb_typeof(x.labels) = 'object' then x.labels end) l where jsonb_typeof(l.value) <> 'string') or pg_column_size(x.labels) > 20000 limit 1;
  if found then
    perform weir._invalid(format('devices: %s cannot be taken', coalesce(left(bad.serial, 60), 'a device without a serial')),
      'serial: at most 128 letters, digits and . _ : @ + -; target: at most 256 characters; hub: at most 128; labels: an object with string values');
  end if;
  select x.serial into bad from jsonb_to_recordset(devices) x (serial text) group by x.serial having count(*) > 1 limit 1;
  if found then
    perform weir._invalid(format('devices: %s is there twice', bad.serial), 'a serial is one device: look which of the two is wrong');
  end if;
end $$;
comment on function weir._fleet_seen is 'WR422 unless it is a report of devices.';
