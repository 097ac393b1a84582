-- A run on a device ended well: a suspicion was wrong, and a device that was unknown is known now. Most are known to be
-- good, and nothing is written. A device that comes and goes stays suspect for the rest of that hour.
create or replace function weir._device_worked(of_device int, t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  perform from weir.devices d where d.id = of_device and d.health in ('suspect', 'unknown');
  if not found then
    return;
  end if;
  perform from weir.devices d where d.id = of_device and d.health in ('suspect', 'unknown')
    and weir._device_flaps(d, t) is not true for update;
  if found then
    perform weir._device_health(of_device, 'good', 'a run on it succeeded', null, null, null, t);
  end if;
end $$;
comment on function weir._device_worked is 'suspect or unknown → good.';
