-- weir._flow_jobs, where a job whose client gave it an id has that one. The second part looks such jobs up one
-- by one, so that a filter by id is a look-up in both parts.
create or replace view flow.jobs as
select c.id, c.workflow_id, c.status, c.progress, c.current_task_key, c.priority, c.order_seq, c.options,
  c.scheduled_at, c.error_code, c.error_message, c.created_at, c.started_at, c.finished_at, c.updated_at
from weir._flow_jobs c where not exists (select from weir.given_ids g where g.job = c.id)
union all
select g.given, c.workflow_id, c.status, c.progress, c.current_task_key, c.priority, c.order_seq, c.options,
  c.scheduled_at, c.error_code, c.error_message, c.created_at, c.started_at, c.finished_at, c.updated_at
from weir.given_ids g, lateral (select * from weir._flow_jobs c where c.id = g.job offset 0) c;
comment on view flow.jobs is 'Jobs. INSERT (workflow_id, scheduled_at, options, priority) opens one: weir.open_job.';

create or replace trigger write instead of insert or update or delete on flow.jobs for each row
execute function weir._flow_job();
