-- weir._flow_task_artifacts, where a job whose client gave it an id has that one. The second part looks such jobs up
-- one by one, so that a filter by job_id is a look-up in both parts.
create or replace view flow.task_artifacts as
select c.id, c.job_id, c.job_task_id, c.kind, c.bucket, c.key, c.size_bytes, c.content_type, c.checksum, c.created_at
from weir._flow_task_artifacts c where not exists (select from weir.given_ids g where g.job = c.job_id)
union all
select c.id, g.given, c.job_task_id, c.kind, c.bucket, c.key, c.size_bytes, c.content_type, c.checksum, c.created_at
from weir.given_ids g, lateral (select * from weir._flow_task_artifacts c where c.job_id = g.job offset 0) c;
comment on view flow.task_artifacts is 'Artifacts of tasks.';

create or replace trigger write instead of insert or update or delete on flow.task_artifacts for each row
execute function weir._flow_refuse('weir.record_artifact');
