-- Why the device of a unit gets no work; null: it may, or the unit has none.
create or replace function weir._fleet_unit_reason(of_device int, checked boolean, t timestamptz) returns jsonb
language sql stable
set search_path = weir, pg_temp
as $$
  select coalesce(case when d.health in ('quarantined', 'maintenance', 'retired') or d.reserved_by is not null then
    weir._device_reason(d, checked) end,
    weir._pc_reason(n, p, t), weir._device_reason(d, checked))
  from weir.devices d left join weir.nodes n on n.id = d.node left join weir.pcs p on p.node = n.id
    where d.id = of_device
$$;
comment on function weir._fleet_unit_reason is 'Why a device gets no work, with its PC, or null.';
