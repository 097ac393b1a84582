-- A task whole, with its state, whichever table it is in.
create or replace view weir.task as
select q.id,
  case when p.task is not null then 'pending' when a.task is not null then 'available'
    when r.task is not null then 'running' else f.outcome end as state,
  q.job, q.key, c.service, c.labels, c.priority, q.order_seq, q.position::int, p.gate,
  coalesce(p.since, a.opened_at, r.claimed_at, f.at, weir._id_time(q.id)) as since,
  coalesce(p.attempt, a.attempt, r.attempt, f.attempt, 0)::int as attempt, coalesce(q.max_attempts, 3) as max_attempts,
  q.params, f.result, f.cause, weir._id_time(q.id) as created_at, coalesce(p.run_at, q.run_at) as run_at,
  p.hold, q.lane, q.rank, q.exclusive, q.pool, q.timeout, w.name as worker, r.until, r.deadline,
  coalesce(r.claimed_at, f.started_at) as started_at, f.at as finished_at,
  r.cancel_at, q.rule, q.needs, q.unique_key, q.trace, q.run, q.plan, q.awaits, p.hold_reason
from weir.tasks q
join weir.classes c on c.id = q.class
left join lateral (select * from weir.pending p where p.task = q.id offset 0) p on true
left join lateral (select * from weir.available a
  where a.class in (q.class, -q.class) and a.order_seq = q.order_seq and a.position = q.position offset 0) a
  on true
left join lateral (select * from weir.running r where r.task = q.id offset 0) r on true
left join lateral (select * from weir.finished f where f.task = q.id offset 0) f on true
left join weir.workers w on w.id = coalesce(r.worker, f.worker);
comment on view weir.task is 'Every task with its state.';
