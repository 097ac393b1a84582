-- Refuses the n-th of the tasks of a call, counted from 1. The field is a path as in JSON, where lists begin with 0.
create or replace function weir._invalid_task(n bigint, fault jsonb, hint text default null) returns void
language sql
as $$
  select weir._raise('WR422', format('tasks[%s].%s', n - 1, fault ->> 'field'), fault ->> 'pattern', fault -> 'args',
    hint, label => format('task %s: %s', n, fault ->> 'field'))
$$;
comment on function weir._invalid_task is 'Raises WR422 for one of several tasks.';
