-- The life of one task, whole. A page reads less of it: weir._task_events.
create or replace function weir.task_events(of_task uuid)
returns table (seq bigint, at timestamptz, type text, attempt int, worker text, source text, level text, message text, data jsonb)
language sql stable security definer
set search_path = weir, pg_temp
as $$
  select * from weir._task_events(of_task, null);
$$;
comment on function weir.task_events is 'Every event of a task, in order.';
