-- A task of a rollout with the status of its newest run, in the words of people. cause, blocker and since say why a
-- task waits, also one that runs; what may start waits for nothing.
-- What is not needed is not asked: a task that was found in one place is looked for in no other, and who blocks it only
-- if it stands at its lane. The plan of a rollout is large: nothing here reads it.
create or replace view weir.rollout_task as
select x.task as id, x.rollout, q.key, s.name as stage, x.stage as stage_n, x.database, x.name as change, x.version,
  x.kind, x.canary, q.position::int as n,
  case
    when p.task is not null then
      case when p.hold is not null and s.state = 'not_started' then 'NOT_STARTED' else 'PENDING' end
    when r.task is not null then 'RUNNING' when f.outcome is null then 'AVAILABLE' when f.outcome = 'done' then 'DONE'
      when f.outcome = 'skipped' then 'SKIPPED'
    when g.unknown then 'UNKNOWN' else upper(f.outcome::text) end as status,
  (case when p.task is not null then
      case when p.hold is not null and p.gate in ('time', 'hold') then p.hold else weir._sentence(y.reason) end
    when f.outcome in ('failed', 'canceled') then
      coalesce(case when g.unknown then 'nobody knows whether it was applied: ' end, '') || coalesce(g.note, f.cause)
      when f.outcome = 'skipped' then f.cause
    when r.task is not null then g.says when f.outcome = 'done' then g.note end)
    collate "C" as cause, -- as it was before, because a view keeps the collation of its columns
  case when p.gate = 'lane' then b.task end as blocker,
  coalesce(case when p.gate = 'lane' then b.since end, p.since, case when r.task is not null then g.says_since end,
    r.claimed_at, f.at, a.opened_at) as since,
  coalesce(p.attempt, r.attempt, f.attempt, a.attempt, 0)::int as attempt, g.phase, g.code,
  case when f.outcome in ('failed', 'canceled') then coalesce(g.note, f.cause) end as error,
  w.name as worker, coalesce(r.claimed_at, f.started_at) as started_at, f.at as finished_at,
  r.cancel_at is not null as stopping, y.reason
from weir.rollout_tasks x
join weir.rollout_stages s on s.rollout = x.rollout and s.n = x.stage
join lateral (select q.key, q.position, q.class, q.order_seq, q.lane, q.rank, q.exclusive from weir.tasks q
  where q.id = x.task offset 0) q
  on true
left join lateral (select * from weir.pending p where p.task = x.task offset 0) p on true
left join lateral (select * from weir.running r where p.task is null and r.task = x.task offset 0) r on true
left join lateral (select * from weir.finished f where p.task is null and r.task is null and f.task = x.task offset 0) f
  on true
left join lateral (select a.opened_at, a.attempt from (values (q.class), (-q.class)) c (class), weir.available a
  where p.task is null and r.task is null and f.task is null
  and a.class = c.class and a.order_seq = q.order_seq and a.position = q.position offset 0) a on true
left join lateral (select * from weir.rollout_runs g
  where g.task = x.task and g.attempt = coalesce(r.attempt, f.attempt) offset 0) g
  on true
left join lateral (
  select l.task, l.since, jsonb_build_object('code', l.code, 'task', coalesce(k.key, l.task::text)) as reason from (
    select l.task, l.rank, 'rollout_behind_waiting' as code, l.since, 1 as nth
    from (select * from weir.pending l where p.gate = 'lane' and l.lane = q.lane and l.rank < q.rank
      order by l.rank limit 1) l
    union all select l.task, l.rank,
      case when l.state = 'running' then 'rollout_behind_running' else 'rollout_behind_available' end, l.since, 1
    from weir._lane_holder l where p.gate = 'lane' and l.lane = q.lane and l.rank < q.rank
    union all select l.task, l.rank,
      case when u.unknown then 'rollout_behind_unknown'
        when e.outcome = 'canceled' then 'rollout_behind_canceled' else 'rollout_behind_failed' end, l.at, 1
    from weir.lane_blocks l
      left join weir.rollout_runs u on u.task = l.task and u.unknown
      left join lateral (select f.outcome from weir.finished f where f.task = l.task offset 0) e on true
      where p.gate = 'lane' and l.lane = q.lane and l.rank < q.rank
    union all select l.task, null, 'rollout_database_taken', l.since, 2 from weir._lane_holder l
    where p.gate = 'lane' and l.lane = q.lane and (q.exclusive or l.exclusive) and l.task <> x.task
    order by nth, rank limit 1) l
  left join lateral (select k.key from weir.tasks k where k.id = l.task offset 0) k on true
) b on true
left join lateral (
  select case when p.gate in ('time', 'hold') and p.hold is not null then p.hold_reason
    when p.gate = 'time' then jsonb_build_object('code', 'rollout_later', 'at', weir._instant(p.run_at))
    when p.gate = 'lane' then coalesce(b.reason, jsonb_build_object('code', 'rollout_turn'))
    when p.gate = 'pool' then jsonb_build_object('code', 'rollout_room',
      'size', (select l.size from weir.pools l where l.name = p.pool)) end as reason
) y on true
left join weir.workers w on w.id = coalesce(r.worker, f.worker);
comment on view weir.rollout_task is 'Every task of a rollout with its status and cause.';
