-- How a task is called that another one waits for: its key, and its job if that is another one than asks.
create or replace function weir._why_name(task uuid, job uuid) returns text
language sql stable
set search_path = weir, pg_temp
as $$
  select coalesce(q.key, 'task ' || q.id::text) || case when q.job is distinct from _why_name.job and j.id is not null then format(' of %s (%s)', coalesce(nullif(j.name, ''), 'job'), j.id) else '' end
  from weir.tasks q left join weir.jobs j on j.id = q.job where q.id = _why_name.task
$$;
comment on function weir._why_name is 'What people call a task that stands in the way of another.';
