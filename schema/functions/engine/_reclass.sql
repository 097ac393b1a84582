-- Moves a task that nobody works on to another class: another priority, other labels, or both (null: as it is). It
-- keeps its place in all else.
-- False when it does not wait.
create or replace function weir._reclass(of_task uuid, to_priority int, to_labels jsonb, event text, by text,
  t timestamptz)
returns boolean
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  was record;
  p weir.pending;
  c weir.classes;
begin
  select * into was from weir._remove_waiting(of_task);
  if was.was is null then
    if weir._state_of(of_task) is null then
      perform weir._not_found('task', of_task::text);
    end if;
    return false;
  end if;
  p := was.p;
  select * into c from weir.classes x where x.id = p.class;
  p.class := weir._class(c.service, coalesce(to_priority, c.priority), coalesce(to_labels, c.labels));
  p.priority := coalesce(to_priority, p.priority);
  update weir.tasks q set class = p.class where q.id = of_task;
  insert into weir.events (at, type, attempt, job, task, source, data)
  values (t, event, p.attempt, p.job, p.task, by,
    jsonb_strip_nulls(jsonb_build_object('priority', to_priority, 'labels', to_labels)));
  if was.was = 'pending' then
    insert into weir.pending select p.*;
    perform weir._after_end('{}', array_remove(array[p.lane], null), array_remove(array[p.pool], null), t);
  else
    perform weir._left_pool(p.pool, -1); -- it has kept its place
    insert into weir.available (order_seq, task, class, position, attempt, opened_at, lane, pool, rank, exclusive)
    values (p.order_seq, p.task, -p.class, p.position, p.attempt, p.since, p.lane, p.pool, p.rank, p.exclusive);
  end if;
  return true;
end $$;
comment on function weir._reclass is 'Gives a waiting task another class.';
