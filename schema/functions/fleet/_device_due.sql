-- Ends the reservations and the maintenance of devices whose time is over; returns how many. A device that a command
-- holds at this moment comes in the next pass, so nothing waits here.
create or replace function weir._device_due(t timestamptz) returns int
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  checked boolean := (select f.health is not null from weir.fleet_policy f);
  d weir.devices;
  n int := 0;
begin
  for d in select * from weir.devices x where x.reserved_until <= t order by x.id limit 500 for update skip locked loop
    perform weir._device_unreserve(d, format('the reservation by %s ended', d.reserved_by), null, t);
    n := n + 1;
  end loop;
  for d in select * from weir.devices x where x.health_until <= t order by x.id limit 500 for update skip locked loop
    perform weir._device_health(d.id, case when checked then 'unknown' else 'good' end, 'its maintenance ended', null,
      null, null, t);
    n := n + 1;
  end loop;
  if n > 0 then
    perform pg_notify('weir_available', 'fleet');
  end if;
  return n;
end $$;
comment on function weir._device_due is 'Ends reservations and maintenance whose time is over.';
