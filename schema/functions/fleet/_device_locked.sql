-- The device of a serial, locked for a command. The PC's row comes first, so that no claim takes the device at this
-- moment.
create or replace function weir._device_locked(serial text) returns weir.devices
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  d weir.devices;
begin
  select * into d from weir.devices x where x.serial = _device_locked.serial;
  if not found then
    perform weir._not_found('device', _device_locked.serial, hint => 'see what there is',
      command => 'weir device list');
  end if;
  perform from weir.nodes n where n.id = d.node for no key update;
  select * into d from weir.devices x where x.id = d.id for update;
  return d;
end $$;
comment on function weir._device_locked is 'A device, locked for a command.';
