-- The health task of a device has ended. Passed: the device is good. Failed: it is put out, or stays out; the next try
-- is 5 min after it was put out, then after 1 h, then a person decides. A health task that was cut off says nothing: it
-- is made again in a minute. But one with a power command counts however it ended, or a device that is away whenever it
-- is switched off would be switched off and on for ever.
create or replace function weir._device_checked(of_device int, of_task uuid, f weir.finished, t timestamptz)
returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  d weir.devices;
  n int;
  powered boolean := exists (select from weir.tasks q where q.id = of_task and q.run ? 'power');
begin
  if f.task is null then
    perform weir._end_waiting(array[of_task], 'canceled', 'cut off before it said how the device is', t);
  end if;
  select * into d from weir.devices x where x.id = of_device for update;
  if d.health not in ('unknown', 'suspect', 'quarantined') then
    return;
  end if;
  if f.outcome = 'done' and d.health = 'suspect' and weir._device_flaps(d, t) then
    return;
  elsif f.outcome = 'done' then
    perform weir._device_health(of_device, 'good', 'its health task passed', null, null, array[of_task], t);
  elsif f.outcome is distinct from 'failed' and not (powered and d.health = 'quarantined') then
    update weir.devices x set check_at = t + interval '1 min' where x.id = of_device;
  elsif d.health = 'quarantined' then
    n := d.checks + 1;
    update weir.devices x set checks = n, check_at = case when n = 1 then t + interval '1 h' end where x.id = of_device;
    insert into weir.events (at, type, kind, subject, level, message, data)
    values (t, 'check_failed', 'device', d.serial, 'warn',
      concat_ws(': ',
        case when n = 1 then 'its health task failed, the next one is due in 1h'
          else 'its health task failed again, a person decides' end,
        case when f.task is null then 'cut off after its power command began' else f.cause end),
      jsonb_build_object('evidence', jsonb_build_array(of_task)));
  else
    perform weir._device_health(of_device, 'quarantined', concat_ws(': ', 'its health task failed', f.cause), null,
      null, d.evidence || of_task, t);
  end if;
end $$;
comment on function weir._device_checked is 'What a health task means for its device.';
