-- Sets the health of a device whose row the caller holds, and says so in the timeline. by: who; of_job: the fleet job
-- that is the reason; evidence: tasks that speak against it.
-- When a device is put out, its first health task is due in 5 min; when nobody knows how it is, at once.
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
begin
  select d.health, d.serial into was, name from weir.devices d where d.id = of_device;
  update weir.devices d
  set health = _device_health.health, health_at = t, health_note = weir._text(note), health_by = by,
    health_job = of_job, evidence = coalesce(_device_health.evidence, '{}'), checks = 0,
    check_at = case _device_health.health when 'quarantined' then t + interval '5 min' when 'unknown' then t
      when 'suspect' then t end, health_until = null
  where d.id = of_device;
  insert into weir.events (at, type, kind, subject, job, source, level, message, data)
  values (t, _device_health.health, 'device', name, of_job, by,
    case when _device_health.health in ('suspect', 'quarantined') then 'warn' end, weir._text(note),
    jsonb_strip_nulls(jsonb_build_object('was', was, 'evidence', to_jsonb(nullif(_device_health.evidence, '{}')))));
end $$;
comment on function weir._device_health is 'Another health of a device, with actor, reason and evidence.';
