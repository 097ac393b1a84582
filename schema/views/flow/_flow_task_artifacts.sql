-- Artifacts as the workflow core had them. checksum is the SHA-256 of the content.
create or replace view weir._flow_task_artifacts as
select a.id, a.job as job_id, a.task as job_task_id, a.kind, a.bucket, a.key, a.size as size_bytes, a.content_type,
  a.sha256 as checksum, a.at as created_at
from weir.artifacts a;
comment on view weir._flow_task_artifacts is 'What flow.task_artifacts shows, by the ids of Weir.';
