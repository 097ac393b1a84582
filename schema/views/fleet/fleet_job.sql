-- Fleet jobs with their state in words of the fleet: waiting, active, or how they ended. Units that wait are what is
-- left of the total: they may be many, and nobody counts them.
create or replace view weir.fleet_job as
select j.job as id, q.name,
  case when f.job is not null then f.outcome::text when l.cancel_at is not null then 'canceling'
    else j.state end as state, j.priority::int, j.order_seq, j.by, q.schedule,
  j.targeted, n.done, n.failed, n.canceled, n.missed, c.running::int, c.retrying::int,
  case
    when l.due is null
      and l.job is not null then
        greatest(j.targeted - n.done - n.failed - n.canceled - n.missed - c.running - c.retrying, 0)
    else 0 end::int as waiting,
  coalesce(j.stopped, f.cause, l.cause) as cause, j.stopped, j.created_at, j.planned_at, j.activated_at, j.ended_at,
  j.lingers_at, j.linger, j.spec, j.missed_at, j.lane
from weir.fleet_jobs j
left join lateral (select q.name, q.schedule from weir.jobs q where q.id = j.job offset 0) q on true
left join weir.job_live l on l.job = j.job
left join lateral (select f.* from weir.job_finished f where f.job = j.job offset 0) f on true,
  lateral (select coalesce(l.done, f.done, 0) as done, coalesce(l.failed, f.failed, 0) as failed,
    coalesce(l.canceled, f.canceled, 0) as canceled, coalesce(l.skipped, f.skipped, 0) as missed) n,
  lateral (select count(*) filter (where u.state = 'running') as running,
    count(*) filter (where u.state = 'retrying') as retrying
    from weir.fleet_units u
    where u.job = j.job and u.state in ('running', 'retrying')) c;
comment on view weir.fleet_job is 'Every fleet job with its state and counts.';
