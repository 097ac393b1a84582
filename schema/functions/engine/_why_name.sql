-- What people call a task that another one waits for: its key, and its job if that is another one than asks. Null for
-- no task.
create or replace function weir._why_name(task uuid, job uuid) returns jsonb
language sql stable
set search_path = weir, pg_temp
as $$
  select case when _why_name.task is null then null else coalesce((
    select jsonb_build_object('code', case when q.key is null then 'task_id' else 'task_key' end, 'key', q.key, 'id',
      case when q.key is null then q.id end,
      'job', case when j.id is not null then coalesce(to_jsonb(nullif(j.name, '')), '{"code": "job_unnamed"}') end,
        'job_id', j.id)
    from weir.tasks q left join weir.jobs j on j.id = q.job and q.job is distinct from _why_name.job
      where q.id = _why_name.task), '{"code": "task_other"}') end
$$;
comment on function weir._why_name is 'What people call a task that stands in the way of another.';
