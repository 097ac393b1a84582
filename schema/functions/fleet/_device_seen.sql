-- Devices that are known are here: back, moved, or with another address. A device that was missing for less than 30 s
-- was never away. The caller holds their rows.
create or replace function weir._device_seen(n weir.nodes, ids int[], devices jsonb, t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  with was as materialized (
    select d.* from weir.devices d where d.id = any (ids)
  ), u as (
    update weir.devices d
    set node = n.id, hub = s.hub, target = s.target, labels = coalesce(nullif(s.labels, 'null'), '{}'),
      missing_at = null, absent_at = coalesce(d.missing_at, d.absent_at), online = true,
      online_at = case when d.online then d.online_at else t end
    from jsonb_to_recordset(_device_seen.devices) s (serial text, target text, hub text, labels jsonb)
    where d.id = any (ids) and s.serial = d.serial
  )
  insert into weir.events (at, type, kind, subject, message)
  select t, case when w.node is distinct from n.id then 'moved' else 'online' end, 'device', w.serial, 'at ' || n.name
  from was w where w.node is distinct from n.id or not w.online order by w.serial;
  perform pg_notify('weir_available', 'fleet');
end $$;
comment on function weir._device_seen is 'Known devices are here.';
