-- Artifacts as the workflow core had them. checksum is the SHA-256 of the content.
create or replace view flow.task_artifacts as
select a.id, a.job as job_id, a.task as job_task_id, a.kind, a.bucket, a.key, a.size as size_bytes, a.content_type,
  a.sha256 as checksum, a.at as created_at
from weir.artifacts a;
comment on view flow.task_artifacts is 'Artifacts of tasks.';

create or replace trigger write instead of insert or update or delete on flow.task_artifacts for each row
execute function weir._flow_refuse('weir.record_artifact');
