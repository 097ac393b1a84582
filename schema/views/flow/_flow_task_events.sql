-- The timeline of jobs as the workflow core had it. Where Weir has one row for a batch, here is one per task. Ask by
-- job_id, by ts, or both; for one task alone weir.task_events is faster.
-- type    status (data.status is the word of flow.job_tasks or flow.jobs, data.event Weir's own) | retry | progress |
-- log | artifact | heartbeat | what a worker called its own   source  who: 'agent:' and the worker, what the writer
-- gave, or 'builder'
create or replace view weir._flow_task_events as
select e.seq * 131072 + coalesce(u.nth - 1, 0) as id, e.job as job_id, u.task as job_task_id, e.at as ts,
  coalesce(e.source, (select 'agent:' || w.name from weir.workers w where w.id = e.worker), 'builder') as source,
  coalesce(e.level, 'info') as level,
  case when m.status is not null then 'status'
    when e.type in ('retrying', 'retried', 'snoozed', 'expired', 'returned') then 'retry' else e.type end as type,
  coalesce(e.message, e.type) as message,
  case
    when m.status is not null then jsonb_build_object('status', m.status, 'event', e.type)
      || case when jsonb_typeof(e.data) = 'object' then e.data else '{}' end
    else e.data end as data
from weir.events e left join lateral unnest(coalesce(e.tasks, array[e.task])) with ordinality u (task, nth) on true,
  lateral (select case
    when e.type in ('submitted', 'built') and e.kind = 'job' then 'running'
    when e.type in ('submitted', 'gated', 'opened', 'queued', 'held', 'released', 'planned', 'split', 'relabeled') then
      'queued'
    when e.type = 'claimed' then 'starting'
    when e.type = 'started' then 'running'
    when e.type in ('done', 'skipped') then e.type
    when e.type = 'failed' then 'error'
    when e.type = 'canceled' then
      case when e.kind = 'job' or e.attempt > 0 and e.worker is not null then 'error' else 'skipped' end
    end as status) m
where e.job is not null or e.kind = 'note';
comment on view weir._flow_task_events is 'What flow.task_events shows, by the ids of Weir.';
