-- A person gives a device back to the schedule: from a reservation, from quarantine, maintenance or suspicion, or after
-- it was retired by mistake. Where there is a health task, a device that was out has to pass it first. holder: the
-- person who asks, as weir.device_reserve had it; others: he may end the reservation of another. False: it was released
-- already.
create or replace function weir.device_release(serial text, by text default null, reason text default null,
  holder text default null, others boolean default false, at timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(device_release.at);
  d weir.devices := weir._device_locked(device_release.serial);
  mine boolean := d.reserved_by = coalesce(nullif(device_release.holder, ''), nullif(device_release.by, ''),
    session_user::text);
begin
  if d.reserved_by is not null and (mine or coalesce(others, false)) then
    perform weir._device_unreserve(d, weir._note('released', device_release.by, device_release.reason),
      coalesce(nullif(device_release.by, ''), session_user::text), t);
    if d.health in ('good', 'unknown', 'suspect') then
      return true;
    end if;
  elsif d.reserved_by is not null and d.health in ('good', 'unknown', 'suspect') then
    perform weir._conflict('device %s is reserved by %s until %s',
      jsonb_build_array(d.serial, d.reserved_by, weir._instant(d.reserved_until)),
      hint => 'wait, or ask an admin to release it');
  end if;
  return weir._device_command(device_release.serial,
    case when (select f.health from weir.fleet_policy f) is null then 'good' else 'unknown' end,
    array['quarantined', 'maintenance', 'suspect', 'retired'], 'released', device_release.by, device_release.reason, t);
end $$;
comment on function weir.device_release is 'Gives a device back to the schedule.';
