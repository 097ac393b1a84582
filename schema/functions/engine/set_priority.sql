-- Changes the priority of a task that has not started.
create or replace function weir.set_priority(task uuid, priority int, by text default null, at timestamptz default null)
returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(set_priority.at);
begin
  if coalesce(set_priority.priority, 1000) not between -100 and 100 then
    perform weir._invalid('priority', '%s is outside -100 .. 100', jsonb_build_array(set_priority.priority));
  end if;
  if not weir._reclass(set_priority.task, set_priority.priority, null, 'priority', set_priority.by, t) then
    perform weir._conflict('task %s is %s: it cannot be given another priority',
      jsonb_build_array(set_priority.task, weir._state_of(set_priority.task)),
      hint => 'only a task that waits can change its place');
  end if;
end $$;
comment on function weir.set_priority is 'Changes the priority of a waiting task.';
