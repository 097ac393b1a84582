-- Jobs as the workflow core had them. INSERT (workflow_id, scheduled_at, options, priority) opens a queued job, as
-- weir.open_job does; the builder starts it when it is due.
-- What that core's scheduler and builder called are functions here: instantiate_tasks is weir.add_tasks, cancelling is
-- weir.cancel_job, and a job ends by itself with its last task.
--   status            queued | running | done | error; a job that was cancelled is an error with error_code 'canceled'
--   progress          0 to 100, by tasks that have ended
--   current_task_key  the earliest step that has not ended
-- The parts of the union have no conditions of their own, else no join could look up a single job in them. An index on
-- the same expression finds jobs that have ended by status.
create or replace view weir._flow_jobs as
select j.id, j.definition as workflow_id, s.status,
  case when s.total > 0 then round(100.0 * s.ended / s.total, 1) else 0 end as progress,
  case when s.status = 'running' then (
    select q.key::text from weir.tasks q
    where q.job = j.id and (select true from weir.finished f where f.task = q.id) is null
    order by q.position limit 1) end as current_task_key,
  j.priority::int as priority, j.order_seq, j.options, coalesce(s.due, j.scheduled_at) as scheduled_at, s.error_code,
    s.error_message, j.created_at,
  case when s.status <> 'queued' then coalesce(
    (select e.at from weir.events e where e.job = j.id and e.kind = 'job' and e.type in ('submitted', 'built')
      order by e.seq limit 1),
    case when s.total > 0 and j.scheduled_at is null then j.created_at end) end as started_at,
  s.finished_at,
  coalesce(s.finished_at, (select e.at from weir.events e where e.job = j.id order by e.seq desc limit 1),
    j.created_at) as updated_at
from (
  select l.job, case when l.due is not null then 'queued' else 'running' end as status, l.total,
    l.done + l.failed + l.canceled + l.skipped as ended, l.due, null::text as error_code, null::text as error_message,
    null::timestamptz as finished_at
  from weir.job_live l
  union all
  select f.job, case when f.outcome = 'done' then 'done' else 'error' end, 1, 1, null,
    case when f.outcome <> 'done' then f.outcome::text end, f.cause, f.at
  from weir.job_finished f
) s join weir.jobs j on j.id = s.job;
comment on view weir._flow_jobs is 'What flow.jobs shows, by the ids of Weir.';
