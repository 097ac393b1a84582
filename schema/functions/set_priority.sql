-- Changes the priority of a task that has not started.
create or replace function weir.set_priority(task uuid, priority int, by text default null, at timestamptz default null) returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(set_priority.at);
  was record;
  p weir.pending;
  c weir.classes;
begin
  if coalesce(set_priority.priority, 1000) not between -100 and 100 then
    perform weir._invalid(format('priority: %s is outside -100 .. 100', set_priority.priority));
  end if;
  select * into was from weir._take(set_priority.task);
  if was.was is null then
    if weir._state_of(set_priority.task) is null then
      perform weir._not_found('task', set_priority.task::text);
    end if;
    perform weir._refuse_state(set_priority.task, 'given another priority', weir._state_of(set_priority.task), 'only a task that waits can change its place');
  end if;
  p := was.p;
  select * into c from weir.classes x where x.id = p.class;
  insert into weir.classes as x (service, priority, labels) values (c.service, set_priority.priority, c.labels)
  on conflict (service, priority, labels) do update set priority = excluded.priority returning x.* into c;
  p.class := c.id;
  p.priority := set_priority.priority;
  update weir.tasks q set class = c.id where q.id = set_priority.task;
  insert into weir.events (at, type, attempt, job, task, source, data)
  values (t, 'priority', p.attempt, p.job, p.task, set_priority.by, jsonb_build_object('priority', set_priority.priority));
  if was.was = 'pending' then
    insert into weir.pending select p.*;
    perform weir._after('{}', array_remove(array[p.lane], null), array_remove(array[p.pool], null), t);
  else
    insert into weir.available (order_seq, task, class, position, attempt, opened_at, lane, pool)
    values (p.order_seq, p.task, -p.class, p.position, p.attempt, p.since, p.lane, p.pool);
  end if;
end $$;
comment on function weir.set_priority is 'Changes the priority of a waiting task.';
