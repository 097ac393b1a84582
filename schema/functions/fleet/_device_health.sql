-- Sets the health of a device whose row the caller holds, and says so in the timeline. by: who; of_job: the fleet job
-- that is the reason; evidence: tasks that speak against it.
-- When a device is put out, its first health task is due in 5 min, or at once if a power command comes with it, because
-- that mends what time does not; when nobody knows how it is, at once.
create or replace function weir._device_health(of_device int, health text, note text, by text, of_job uuid,
  evidence uuid[], t timestamptz)
returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  was text;
  name text;
  powered boolean;
begin
  select d.health, d.serial, nullif(weir._health_task(f.health, d.serial, d.labels) -> 'power', 'null') is not null
  into was, name, powered from weir.devices d, weir.fleet_policy f where d.id = of_device;
  update weir.devices d
  set health = _device_health.health, health_at = t, health_note = weir._text(note), health_by = by,
    health_job = of_job, evidence = coalesce(_device_health.evidence, '{}'), checks = 0,
    check_at = case when _device_health.health = 'quarantined' and not powered then t + interval '5 min'
      when _device_health.health in ('unknown', 'suspect', 'quarantined') then t end, health_until = null
  where d.id = of_device;
  if _device_health.health in ('good', 'unknown', 'suspect') or powered then
    perform pg_notify('weir_available', 'fleet');
  end if;
  insert into weir.events (at, type, kind, subject, job, source, level, message, data)
  values (t, _device_health.health, 'device', name, of_job, by,
    case when _device_health.health in ('suspect', 'quarantined') then 'warn' end, weir._text(note),
    jsonb_strip_nulls(jsonb_build_object('was', was, 'evidence', to_jsonb(nullif(_device_health.evidence, '{}')))));
end $$;
comment on function weir._device_health is 'Another health of a device, with actor, reason and evidence.';
