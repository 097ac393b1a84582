-- A person changes the health of a device. The PC's row comes first, so that no claim takes the device at this moment.
-- from_states: where the command makes sense; elsewhere it is refused.
-- True: something changed.
create or replace function weir._device_command(serial text, health text, from_states text[], did text, by text,
  reason text, t timestamptz)
returns boolean
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  d weir.devices;
begin
  if coalesce(_device_command.reason, '') = '' then
    perform weir._invalid('reason', 'say why', hint => 'whoever finds the device so wants to know');
  end if;
  select * into d from weir.devices x where x.serial = _device_command.serial;
  if not found then
    perform weir._not_found('device', _device_command.serial, hint => 'see what there is',
      command => 'weir device list');
  end if;
  perform from weir.nodes n where n.id = d.node for no key update;
  select * into d from weir.devices x where x.id = d.id for update;
  if d.health = _device_command.health then
    return false;
  end if;
  if d.health <> all (from_states) then
    perform weir._conflict('device %s is %s: it cannot be %s', jsonb_build_array(d.serial, d.health, did),
      hint => case d.health when 'good' then 'nothing keeps it from working'
        when 'retired' then 'release it first, if it is back' when 'suspect' then 'it works; a success clears it'
        else 'release it first' end);
  end if;
  perform weir._device_health(d.id, _device_command.health, weir._note(did, _device_command.by, _device_command.reason),
    coalesce(nullif(_device_command.by, ''), session_user::text), null, null, t);
  if _device_command.health in ('good', 'unknown') then
    perform pg_notify('weir_available', 'fleet');
  end if;
  return true;
end $$;
comment on function weir._device_command is 'A command for a device.';
