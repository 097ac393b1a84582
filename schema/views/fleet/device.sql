-- Devices with what they do, and why they do nothing. why is null for a device that is eligible.
create or replace view weir.device as
select d.id, d.serial, n.name as pc, d.hub, d.target, d.labels, d.online, d.online_at, d.missing_at, d.health,
  d.health_at, d.health_note, d.health_by, d.health_job, d.evidence, d.checks, d.check_at, d.registered_at,
  r.task, r.job, r.attempt::int, r.claimed_at, r.deadline, weir._sentence(jsonb_strip_nulls(w.reason)) as why,
  w.reason is null as eligible, jsonb_strip_nulls(w.reason) as reason,
  case when d.flaps_at > f.now - interval '1 h' then d.flaps else 0 end as flaps, w.verdict as answer,
  w.at as answer_at, d.health_until, d.reserved_by, d.reserved_at,
  d.reserved_until, d.reserved_note
from weir.devices d left join weir.nodes n on n.id = d.node left join weir.pcs p on p.node = n.id
left join weir.running r on r.device = d.id
  cross join (select f.health is not null as checked, clock_timestamp() as now from weir.fleet_policy f) f,
  lateral weir._device_answer(d, n, p, r.task is not null, f.checked, f.now) w;
comment on view weir.device is 'Devices, whether they are there and well, and what they do.';
