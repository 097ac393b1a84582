-- Refuses devices that cannot be taken, with the device and the fix. A PC says the same every few seconds, and what is
-- known was valid: so only a report with news is looked at.
create or replace function weir._device_valid(devices jsonb) returns void
language plpgsql stable
as $$
declare
  bad record;
begin
  select x.serial, x.target, x.hub, x.labels into bad
  from jsonb_to_recordset(devices) x (serial text, target text, hub text, labels jsonb)
  where coalesce(x.serial !~ '^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}$', true) or length(x.target) > 256
    or length(x.hub) > 128 or jsonb_typeof(x.labels) not in ('object', 'null')
    or exists (select from jsonb_each(case when jsonb_typeof(x.labels) = 'object' then x.labels end) l
      where jsonb_typeof(l.value) <> 'string')
      or pg_column_size(x.labels) > 20000 limit 1;
  if found then
    perform weir._invalid('devices', '%s cannot be taken',
      jsonb_build_array(coalesce(left(bad.serial, 60), 'a device without a serial')),
      hint => 'serial: at most 128 letters, digits and . _ : @ + -; target: at most 256 characters; hub: at most 128; '
        'labels: an object with string values');
  end if;
end $$;
comment on function weir._device_valid is 'WR422 unless each device can be taken.';
