-- The tasks of rollouts as far as holds depend on them. state: waiting, available, running, passed (done or skipped) or
-- bad (failed, canceled, unknown). attempt counts runs that are over.
-- proven: its change is known to be applied, and the next attempt only says so. A place where a task is not is not
-- asked once it was found: of ten thousand that wait, history knows nothing.
create or replace view weir._rollout_fact as
select x.task, x.rollout, x.stage, x.database, x.canary,
  case when p.task is not null then 'waiting' when r.task is not null then 'running'
    when f.outcome is null then 'available' when f.outcome = 'done' or f.passes then 'passed' else 'bad' end as state,
  f.outcome::text as outcome, p.hold, n.attempt,
  n.attempt > 0 and f.outcome is null
    and exists (select from weir.rollout_runs g
      where g.task = x.task and g.attempt = n.attempt and g.code = 'applied') as proven
,
  case when p.hold is not null then coalesce(p.hold_reason, '{}') end as reason
from weir.rollout_tasks x
left join lateral (select p.task, p.hold, p.hold_reason, p.attempt from weir.pending p
  where p.task = x.task offset 0) p
  on true
left join lateral (select r.task, r.attempt - 1 as attempt from weir.running r
  where p.task is null and r.task = x.task offset 0) r
  on true
left join lateral (select f.task, f.outcome, f.passes, f.attempt from weir.finished f
  where p.task is null and r.task is null and f.task = x.task offset 0) f
  on true
left join lateral (select a.attempt
  from weir.tasks q, lateral (values (q.class), (-q.class)) c (class), weir.available a
  where p.task is null and r.task is null and f.task is null and q.id = x.task
  and a.class = c.class and a.order_seq = q.order_seq and a.position = q.position offset 0) a on true
cross join lateral (select coalesce(p.attempt, r.attempt, f.attempt, a.attempt, 0)::int as attempt) n;
comment on view weir._rollout_fact is 'The tasks of rollouts as their gates see them.';
