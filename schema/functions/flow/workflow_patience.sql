-- Looks at tasks that wait for a worker: after relax they may run wherever their second labels say, after fail they
-- end. Returns how many it changed.
-- The clock of a task starts when it becomes available: waiting for a need or a pool is not waiting for a worker. All
-- jobs are locked before anything else, as weir.workflow_plan does.
create or replace function weir.workflow_patience(at timestamptz default null) returns int
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workflow_patience.at);
  changed int := 0;
  late weir.patience[];
  over uuid[];
  p weir.patience;
begin
  delete from weir.patience p
  where exists (select from weir.finished f where f.task = p.task)
    or not exists (select from weir.tasks q where q.id = p.task);
  select coalesce(array_agg(x.p order by x.task), '{}'), array_agg(x.task) filter (where x.over) into late, over from (
    select p, p.task, o.at + p.fail <= t as over
    from weir.patience p
    join lateral (select q.id, q.class, q.order_seq, q.position from weir.tasks q where q.id = p.task offset 0) q
      on true
    join lateral (select coalesce(a.opened_at, weir._id_time(q.id)) as at from weir.available a
      where a.class in (q.class, -q.class) and a.order_seq = q.order_seq and a.position = q.position offset 0) o on true
    where o.at + p.fail <= t or o.at + p.relax <= t
    order by p.task limit 200
  ) x;
  perform from weir.job_live l
  where l.job = any (array(select q.job
      from unnest(late) x, lateral (select q.job from weir.tasks q where q.id = x.task offset 0) q))
  order by l.job for update;
  foreach p in array late loop
    if p.task = any (over) then
      changed := changed
        + weir.decide(p.task, 'failed', cause => format('waited %s for a worker: queue timeout', weir._span(p.fail)),
          at => t)::int;
      delete from weir.patience x where x.task = p.task;
    else
      changed := changed + weir.relabel(p.task, p.labels, at => t)::int;
      update weir.patience x set relax = null, labels = null where x.task = p.task;
    end if;
  end loop;
  return changed;
end $$;
comment on function weir.workflow_patience is
  'Relaxes labels of tasks that nobody takes, and ends those that waited too long.';
