-- weir._flow_job_tasks, where a job whose client gave it an id has that one. The second part looks such jobs up one
-- by one, so that a filter by job_id is a look-up in both parts.
create or replace view flow.job_tasks as
select c.id, c.job_id, c.task_key, c.service_name, c.status, c.depends_on, c.attempt, c.max_attempts, c.next_attempt_at,
  c.priority, c.progress, c.params, c.results, c.assigned_node, c.claimed_by, c.claimed_at, c.started_at,
  c.finished_at, c.updated_at, c.created_at
from weir._flow_job_tasks c where not exists (select from weir.given_ids g where g.job = c.job_id)
union all
select c.id, g.given, c.task_key, c.service_name, c.status, c.depends_on, c.attempt, c.max_attempts, c.next_attempt_at,
  c.priority, c.progress, c.params, c.results, c.assigned_node, c.claimed_by, c.claimed_at, c.started_at,
  c.finished_at, c.updated_at, c.created_at
from weir.given_ids g, lateral (select * from weir._flow_job_tasks c where c.job_id = g.job offset 0) c;
comment on view flow.job_tasks is 'Tasks of jobs.';

create or replace trigger write instead of insert or update or delete on flow.job_tasks for each row
execute function weir._flow_refuse('weir.claim, weir.finish and weir.fail');
