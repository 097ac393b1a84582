-- Tasks of jobs as the workflow core had them. Its worker's calls are functions here: select_runnable and claim are
-- weir.claim, mark_task_running is weir.start_many, update_task_progress and append_event are weir.record,
-- mark_task_done is weir.finish, mark_task_error is weir.fail, record_task_artifact is weir.record_artifact, and its
-- heartbeat is weir.renew.
-- status           queued (it waits; weir.why says for what) | starting (claimed) | running | done | error | skipped;
-- of tasks that were cancelled, those that had begun are error, the others skipped   attempt          tries that failed
--   progress         0 to 100, as its worker last said
--   assigned_node    where it runs or ran; before that, where it must
--   updated_at       while it runs, when its worker was last heard of
-- One part per place and status, so that a filter by status reads only those. Ask by id, by job_id or by status; for
-- the tasks of several jobs write job_id = any (array(select …)).
create or replace view weir._flow_job_tasks as
select s.id, s.job as job_id, s.key::text as task_key, c.service::text as service_name, s.status,
  array(select n.key::text from unnest(s.needs) with ordinality u (id, nth) join weir.tasks n on n.id = u.id
    order by u.nth) as depends_on,
  s.attempt, coalesce(s.max_attempts, 3)::int as max_attempts, s.next_attempt_at, c.priority::int as priority,
  case when s.status = 'done' then 100 when s.attempt > 0 or s.claimed_at is not null then (
    select case when e.data ->> 'percent' ~ '^\d{1,3}(\.\d{1,6})?$' then (e.data ->> 'percent')::numeric end
    from weir.events e where e.task = s.id and e.type = 'progress' order by e.seq desc limit 1)
    end as progress,
  s.params, s.result as results, coalesce(n.name, c.labels ->> 'node')::text as assigned_node,
    w.name::text as claimed_by, s.claimed_at,
  case when s.status <> 'starting' then s.claimed_at end as started_at, s.finished_at,
  case when s.status in ('starting', 'running') then greatest(s.since, w.seen_at) else s.since end as updated_at,
  weir._id_time(s.id) as created_at
from (
  select q.id, q.job, q.key, q.class, q.needs, q.max_attempts, q.params, 'queued' as status, p.attempt::int as attempt,
    case when p.gate = 'time' then p.run_at end as next_attempt_at, null::int as worker,
    null::timestamptz as claimed_at, null::timestamptz as finished_at, p.since, null::jsonb as result
  from weir.pending p join weir.tasks q on q.id = p.task where q.job is not null
  union all
  select q.id, q.job, q.key, q.class, q.needs, q.max_attempts, q.params, 'queued', a.attempt, null, null, null, null,
    coalesce(a.opened_at, weir._id_time(q.id)), null
  from weir.available a
  join weir.tasks q on q.id = a.task and q.order_seq = a.order_seq and q.position = a.position and q.class = a.class
  where q.job is not null
  union all
  select q.id, q.job, q.key, q.class, q.needs, q.max_attempts, q.params, 'queued', a.attempt, null, null, null, null,
    coalesce(a.opened_at, weir._id_time(q.id)), null
  from weir.available a
  join weir.tasks q on q.id = a.task and q.order_seq = a.order_seq and q.position = a.position and -q.class = a.class
  where q.job is not null
  union all
  select q.id, q.job, q.key, q.class, q.needs, q.max_attempts, q.params, 'starting', r.attempt - 1, null, r.worker,
    r.claimed_at, null, r.claimed_at, null
  from weir.running r join weir.tasks q on q.id = r.task where r.started is not true and q.job is not null
  union all
  select q.id, q.job, q.key, q.class, q.needs, q.max_attempts, q.params, 'running', r.attempt - 1, null, r.worker,
    r.claimed_at, null, r.claimed_at, null
  from weir.running r join weir.tasks q on q.id = r.task where r.started and q.job is not null
  union all
  select q.id, q.job, q.key, q.class, q.needs, q.max_attempts, q.params, 'done', greatest(f.attempt - 1, 0), null,
    f.worker, f.started_at, f.at, f.at, f.result
  from weir.finished f join weir.tasks q on q.id = f.task where f.outcome = 'done' and q.job is not null
  union all
  select q.id, q.job, q.key, q.class, q.needs, q.max_attempts, q.params, 'error', f.attempt, null, f.worker,
    f.started_at, f.at, f.at, f.result
  from weir.finished f join weir.tasks q on q.id = f.task
  where f.outcome <> 'done' and (f.outcome = 'failed' or f.outcome = 'canceled' and f.started_at is not null)
    and q.job is not null
  union all
  select q.id, q.job, q.key, q.class, q.needs, q.max_attempts, q.params, 'skipped', f.attempt, null, f.worker,
    f.started_at, f.at, f.at, f.result
  from weir.finished f join weir.tasks q on q.id = f.task
  where f.outcome <> 'done' and (f.outcome = 'skipped' or f.outcome = 'canceled' and f.started_at is null)
    and q.job is not null
) s
join weir.classes c on c.id = s.class
left join weir.workers w on w.id = s.worker
left join weir.nodes n on n.id = w.node;
comment on view weir._flow_job_tasks is 'What flow.job_tasks shows, by the ids of Weir.';
