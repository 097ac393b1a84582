-- The trigger of weir.devices: a device is in another state, or at another PC. The time is the one that the row has for
-- the change, because a device that is offline was last seen before; without one it is the clock's. The end of a
-- reservation leaves no time in the row: weir._device_unreserve says it.
create or replace function weir._device_span() returns trigger
language plpgsql
set search_path = weir, pg_temp
as $$
begin
  perform weir._device_spanned(new, coalesce(case when tg_op = 'INSERT' then new.registered_at
    when old.online is distinct from new.online then new.online_at
    when old.health is distinct from new.health then new.health_at
    when old.reserved_by is distinct from new.reserved_by then new.reserved_at end, clock_timestamp()));
  return null;
end $$;
comment on function weir._device_span is 'Trigger: the states that a device goes through.';
