-- Why a device gets no work, apart from its PC and from what it does already; null: it is eligible. checked: there is a
-- health task, which a device that nobody knows has to pass first. A suspect device works: that is how evidence for or
-- against it is found.
create or replace function weir._device_reason(d weir.devices, checked boolean) returns jsonb
language sql stable parallel safe
as $$
  select case
    when d.health in ('quarantined', 'maintenance', 'retired') then
      jsonb_build_object('code', 'device_out', 'health', d.health, 'since', weir._instant(d.health_at),
        'until', weir._instant(d.health_until), 'note', d.health_note)
    when d.reserved_by is not null then
      jsonb_build_object('code', 'device_reserved', 'by', d.reserved_by, 'until', weir._instant(d.reserved_until),
        'note', d.reserved_note)
    when not d.online then jsonb_build_object('code', 'device_offline', 'since', weir._instant(d.online_at))
    when d.missing_at is not null then jsonb_build_object('code', 'device_missing',
      'since', weir._instant(d.missing_at))
    when d.health = 'unknown' and checked then jsonb_build_object('code', 'device_unchecked')
  end
$$;
comment on function weir._device_reason is 'Why a device gets no work, or null.';
