-- A person takes a device for himself until a time. What runs on it goes on, and it gets nothing new: weir._fleet_pick
-- leaves it out. He may do it again with another end; another person is refused. holder: the person, where by names a
-- token of his; both of his count as one. False: it was so already.
create or replace function weir.device_reserve(serial text, until timestamptz, by text default null,
  reason text default null, holder text default null, at timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(device_reserve.at);
  source text := coalesce(nullif(device_reserve.by, ''), session_user::text);
  person text := coalesce(nullif(device_reserve.holder, ''), source);
  note text := weir._text(nullif(device_reserve.reason, ''));
  d weir.devices;
begin
  perform weir._check(weir._bad_time('until', device_reserve.until), weir._bad_text('by', device_reserve.by, 500),
    weir._bad_text('holder', device_reserve.holder, 500), weir._bad_text('reason', device_reserve.reason, 8000));
  if coalesce(device_reserve.until <= t, true) or device_reserve.until > t + interval '30 days' then
    perform weir._invalid('until', 'a reservation ends within 30 days from now', hint => case
      when device_reserve.until > t then 'give 30d or less, and reserve it again before it ends'
      else 'give a time to come' end);
  end if;
  d := weir._device_locked(device_reserve.serial);
  if d.reserved_by <> person then
    perform weir._conflict('device %s is reserved by %s until %s',
      jsonb_build_array(d.serial, d.reserved_by, weir._instant(d.reserved_until)),
      hint => 'wait, or ask an admin to release it');
  end if;
  if d.health = 'retired' then
    perform weir._conflict('device %s is %s: it cannot be %s', jsonb_build_array(d.serial, d.health, 'reserved'),
      hint => 'release it first, if it is back');
  end if;
  if d.reserved_until = device_reserve.until and d.reserved_note is not distinct from note then
    return false;
  end if;
  update weir.devices x
  set reserved_by = person, reserved_at = coalesce(d.reserved_at, t), reserved_until = device_reserve.until,
    reserved_note = note
  where x.id = d.id;
  insert into weir.events (at, type, kind, subject, source, message, data)
  values (t, 'reserved', 'device', d.serial, source, note,
    jsonb_build_object('by', person, 'until', weir._instant(device_reserve.until)));
  return true;
end $$;
comment on function weir.device_reserve is 'Reserves a device for a person until a time.';
