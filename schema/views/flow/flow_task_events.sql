-- weir._flow_task_events, where a job whose client gave it an id has that one. The second part looks such jobs up one
-- by one, so that a filter by job_id is a look-up in both parts.
create or replace view flow.task_events as
select c.id, c.job_id, c.job_task_id, c.ts, c.source, c.level, c.type, c.message, c.data
from weir._flow_task_events c where not exists (select from weir.given_ids g where g.job = c.job_id)
union all
select c.id, g.given, c.job_task_id, c.ts, c.source, c.level, c.type, c.message, c.data
from weir.given_ids g, lateral (select * from weir._flow_task_events c where c.job_id = g.job offset 0) c;
comment on view flow.task_events is 'The timeline of jobs.';

create or replace trigger write instead of insert or update or delete on flow.task_events for each row
execute function weir._flow_event();
