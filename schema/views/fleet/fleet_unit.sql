-- The units of fleet jobs with their device and the attempts of their task.
create or replace view weir.fleet_unit as
select u.job, u.unit, u.round::int, u.state, d.serial as device, n.name as pc, u.task, u.infra::int, u.excluded,
  u.cause, coalesce(r.attempt, p.attempt, f.attempt, 0)::int as attempt, r.claimed_at, r.deadline, p.run_at as retry_at,
  coalesce(f.started_at, r.claimed_at) as started_at, f.at as ended_at, f.result
from weir.fleet_units u left join weir.devices d on d.id = u.device left join weir.nodes n on n.id = d.node
left join weir.running r on r.task = u.task left join weir.pending p on p.task = u.task
left join lateral (select f.* from weir.finished f where f.task = u.task offset 0) f on true;
comment on view weir.fleet_unit is 'The units of fleet jobs.';
