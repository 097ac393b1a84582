-- Lets a task at the gate plan wait for other tasks of its job, those it was split into: once they have ended, however,
-- it stands at the gate plan again.
-- Tasks that have ended already count at once.
create or replace function weir.wait_for(task uuid, needs text[], at timestamptz default null) returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = on
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(wait_for.at);
  p weir.pending := weir._lock_at_plan(wait_for.task);
  ids uuid[];
  live uuid[];
  bad text;
begin
  if p.task is null then
    return false;
  end if;
  if coalesce(cardinality(wait_for.needs), 0) = 0 then
    perform weir._invalid('needs', 'say which tasks of its job it waits for', hint => 'to end it, use weir.decide');
  end if;
  ids := weir._tasks_by_key(p.job, wait_for.needs);
  select w.key into bad from unnest(wait_for.needs, ids) w (key, id) where w.id is null limit 1;
  if found then
    perform weir._invalid('needs', 'there is no task %L in its job', jsonb_build_array(bad),
      hint => 'add it first: weir.add_tasks');
  end if;
  ids := array(select distinct x from unnest(ids) x);
  live := array(select x.id from unnest(ids) x (id) where (select true from weir.finished f where f.task = x.id) is null
    order by 1);
  -- What needs this task, directly or not, can never end before it; and if it has ended, it may be brought back and
  -- wait for it then.
  if exists (
    with recursive up (id) as (
      select unnest(ids)
      union select n
      from up, lateral (select q.needs, q.awaits from weir.tasks q where q.id = up.id offset 0) q,
        unnest(q.needs || q.awaits) n
    ) select from up where up.id = p.task)
  then
    perform weir._invalid('needs', 'one of these tasks needs the task itself',
      hint => 'items need what the task needs, not the task');
  end if;
  update weir.tasks q set awaits = ids where q.id = p.task;
  insert into weir.events (at, type, attempt, job, task, message, data)
  values (t, 'split', p.attempt, p.job, p.task, format('waits for %s of %s tasks', cardinality(live), cardinality(ids)),
    jsonb_build_object('tasks', cardinality(ids)));
  if cardinality(live) = 0 then
    perform pg_notify('weir_plan', '');
    return true;
  end if;
  insert into weir.edges (need, task) select x, p.task from unnest(live) x;
  update weir.pending x set gate = 'needs', since = t, rule = 'all_done', unmet = cardinality(live), broken = false
  where x.task = p.task;
  return true;
end $$;
comment on function weir.wait_for is
  'A task at the gate plan waits for tasks of its job, then stands there again. False: it does not stand there any '
  'more.';
