-- A person changes the health of a device.
-- from_states: where the command makes sense; elsewhere it is refused. until: when the new health ends by itself.
-- True: something changed.
create or replace function weir._device_command(serial text, health text, from_states text[], did text, by text,
  reason text, t timestamptz, until timestamptz default null)
returns boolean
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  d weir.devices;
begin
  if coalesce(_device_command.reason, '') = '' then
    perform weir._invalid('reason', 'say why', hint => 'the reason is kept with the device, and its page shows it');
  end if;
  if _device_command.until is not null then
    perform weir._check(weir._bad_time('until', _device_command.until));
    if _device_command.until <= t then
      perform weir._invalid('until', 'it is past', hint => 'give a time to come');
    end if;
  end if;
  d := weir._device_locked(_device_command.serial);
  if d.health = _device_command.health and d.health_until is not distinct from _device_command.until then
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
  if _device_command.until is not null then
    update weir.devices x set health_until = _device_command.until where x.id = d.id;
  end if;
  return true;
end $$;
comment on function weir._device_command is 'A command for a device.';
