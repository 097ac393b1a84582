-- Devices are absent from the report of their PC, which said so just now: they are missing, and offline if that stays
-- so. Each such loss is counted, for an hour at a time: a device that goes away five times has a bad cable, hub or
-- power supply, and is suspect, so that people see it before it is two. What is lost while its PC is paused is not
-- counted: that is the PC's matter, or the hub's. Neither is a device that its own power command switched off, which is
-- no loss for weir._fleet_dropout either when that has ended. The caller holds their rows.
create or replace function weir._device_missing(ids int[], t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  d weir.devices;
begin
  for d in
    update weir.devices x
    set missing_at = t, absent_at = case when p.powered then t else x.absent_at end,
      flaps = case when p.powered or p.paused then x.flaps when p.fresh then 1 else x.flaps + 1 end,
      flaps_at = case when p.fresh and not p.paused and not p.powered then t else x.flaps_at end
    from weir.devices o,
      lateral (select weir._device_powered(o.id) as powered, coalesce(o.flaps_at <= t - interval '1 h', true) as fresh,
        exists (select from weir.pcs p where p.node = o.node and p.paused_until > t) as paused) p
    where o.id = x.id and x.id = any (ids) and x.online and x.missing_at is null
    returning x.*
  loop
    continue when d.flaps <> 5 or d.flaps_at = t or d.health not in ('good', 'unknown')
      or exists (select from weir.pcs p where p.node = d.node and p.paused_until > t);
    perform weir._device_health(d.id, 'suspect',
      format('it went away %s times since %s: look at its cable, hub and power', d.flaps,
        to_char(d.flaps_at at time zone 'UTC', 'HH24:MI UTC')), 'fleet', null, null, t);
  end loop;
end $$;
comment on function weir._device_missing is 'Devices are absent: counts the losses of each.';
