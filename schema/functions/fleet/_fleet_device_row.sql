-- Writes to fleet.devices. An insert says that a PC sees the device; the same row again is fine. An update may say that
-- it is there with another address, or gone: it is missing then, and offline if that stays so; many that are gone at
-- once are the fault of their hub or PC. Who is out of the schedule and who comes back is decided by failures, health
-- tasks and people, not here.
create or replace function weir._fleet_device_row() returns trigger
language plpgsql security definer
set search_path = weir, pg_temp
as $$
declare
  t timestamptz := clock_timestamp();
  n weir.nodes;
begin
  if tg_op = 'DELETE' then
    perform weir._invalid(null, 'delete of fleet.devices: what ran on a device is kept, and so is the device',
      hint => 'for one that is gone for good', command => 'weir device retire SERIAL --reason …');
  end if;
  if tg_op = 'UPDATE' and new.serial <> old.serial then
    perform weir._invalid('serial', 'it is what a device is known by', hint => 'insert the other device');
  end if;
  if new.pc_id is null then
    perform weir._invalid('pc_id', 'say which PC sees the device');
  end if;
  if tg_op = 'UPDATE' and lower(new.status) <> old.status and lower(new.status) not in ('online', 'offline')
    or tg_op = 'INSERT' and lower(coalesce(new.status, 'online')) <> 'online' then
    perform weir._invalid('status', '%L follows from what runs on the device and from its health',
      jsonb_build_array(new.status),
      hint => 'a PC says online and offline; busy and error come by themselves, and a person takes a device out and '
        'back with weir device');
  end if;
  if tg_op = 'UPDATE' and lower(new.status) = 'offline' then
    select x.* into n from weir.nodes x join weir.devices d on d.node = x.id where d.id = old.id for no key update of x;
    -- Leases and jobs before devices: see weir.fleet_report.
    perform weir._fleet_dropout(n, array[old.id], t)
    where exists (select from weir.devices d where d.id = old.id and d.online and d.missing_at is null);
    perform weir._device_missing(array[old.id], t);
  else
    perform weir._fleet_report_device(new.pc_id,
      jsonb_build_object('serial', new.serial, 'target', new.target, 'hub', new.hub, 'labels', new.labels), t);
  end if;
  select * into new from fleet.devices d where d.serial = new.serial;
  -- A retired device is not to be seen.
  return case when found then new end;
end $$;
comment on function weir._fleet_device_row is 'A PC sees what is inserted into fleet.devices.';
