-- What is to be done about nodes that sleep, as the leader asks every few seconds. Notes which have been seen since
-- (awake) and which have not come in time (failed); then, for work that is due within five minutes and that nobody who
-- is awake can do, picks one node that could, notes that it is being woken, and returns how. A node that does not wake
-- is tried again after 30 s, then after twice as long, up to half an hour; meanwhile another that could do the work is
-- woken.
create or replace function weir.plan_wakes(at timestamptz default null) returns jsonb
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(plan_wakes.at);
  soon interval := '5 min';
  n weir.nodes;
  w record;
  tasks jsonb := '[]';
begin
  if not exists (select from weir.nodes x where x.wake_method is not null) then
    return tasks;
  end if;
  for n in select * from weir.nodes x where x.wake_method is not null and x.wake_state <> 'awake' order by x.id loop
    if weir._awake(n, t) then
      perform weir._note_wake(n.name, 'awake', null, null, null, t);
    elsif n.wake_state = 'waking' and n.wake_at + weir._wake_timeout(n) <= t then
      perform weir.note_wake(n.name, 'failed', format('not seen within %s', weir._span(weir._wake_timeout(n))), null,
        null, t);
    end if;
  end loop;
  for w in select x.* from weir._unserved_work(soon, t) x order by x.due, x.service, x.labels loop
    select x.* into n from weir.nodes x
    where x.wake_method is not null and not weir._awake(x, t) and weir._serves(x, w.service, w.labels, t)
      and (x.wake_state = 'waking' or weir._wake_next(x) <= t)
    order by x.wake_state = 'waking' desc, x.wake_tries, x.name limit 1;
    continue when n.id is null or n.wake_state = 'waking';
    if weir._note_wake(n.name, 'waking', format('%s needs %s%s', w.what, w.service,
      case when w.due > t then ' in ' || weir._span(w.due - t) else ' now' end), null, null, t)
    then
      tasks := tasks
        || jsonb_build_array(jsonb_build_object('node', n.name, 'method', n.wake_method, 'params', n.wake,
            'try', n.wake_tries + 1));
    end if;
  end loop;
  return tasks;
end $$;
comment on function weir.plan_wakes is 'Notes which nodes woke and which did not, and returns those to be woken now.';
