-- A PC sees one device; of its others this says nothing. What weir.fleet_report says of a list, this says of one: new,
-- back, moved, or nothing new, and then next to nothing is written. What another PC sees at the same time stays there.
-- Fields that are null stay as they are known.
create or replace function weir._fleet_report_device(pc text, device jsonb, t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  n weir.nodes;
  d weir.devices;
  o weir.nodes;
begin
  perform weir._device_valid(jsonb_build_array(device));
  n := weir._fleet_pc(_fleet_report_device.pc, null, t);
  -- Twice: what is new is looked at again once the PCs are locked.
  for turn in 1..2 loop
    select * into d from weir.devices x where x.serial = device ->> 'serial';
    select * into o from weir.nodes x where x.id = d.node;
    device := device
      || jsonb_build_object('target', coalesce(device ->> 'target', d.target), 'hub', coalesce(device ->> 'hub', d.hub),
        'labels', coalesce(nullif(device -> 'labels', 'null'), d.labels, '{}'));
    if o.id <> n.id and d.online and d.missing_at is null and o.seen_at >= t - interval '45 s' then
      perform weir._conflict('device %s is at %s: %s cannot have it too', jsonb_build_array(d.serial, o.name, n.name),
        hint => 'two devices with one serial, or one that moved: let the first PC say that it is offline');
    end if;
    exit when turn = 2;
    if d.node = n.id and d.online and d.missing_at is null
      and (d.target, d.hub, d.labels) is not distinct from (device ->> 'target', device ->> 'hub',
        device -> 'labels') then
      perform weir._pc_heartbeat(n, null, t);
      return;
    end if;
    perform from weir.nodes x where x.id in (n.id, o.id) order by x.id for no key update;
  end loop;
  perform weir._pc_heartbeat(n, null, t);
  if d.id is null then
    perform weir._device_new(n, jsonb_build_array(device), t);
    return;
  end if;
  if d.node is distinct from n.id then
    -- Leases and jobs before devices: see weir.fleet_report.
    perform weir._device_lost(array[d.id], format('it moved to %s', n.name), t);
  end if;
  perform from weir.devices x where x.id = d.id for update;
  perform weir._device_seen(n, array[d.id], jsonb_build_array(device), t);
end $$;
comment on function weir._fleet_report_device is 'A PC sees a device.';
