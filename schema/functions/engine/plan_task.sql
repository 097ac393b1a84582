-- Says what a task at the gate plan is, now that its needs have ended: what it is called with, where and how it may
-- run. It goes on to its next gate.
-- Null leaves a field as it was submitted.
create or replace function weir.plan_task(task uuid, params jsonb default null, labels jsonb default null,
  run jsonb default null, hold text default null, run_at timestamptz default null, at timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(plan_task.at);
  p weir.pending;
begin
  if pg_column_size(plan_task.params) > 16 * 1024 * 1024 then
    perform weir._invalid('params', '%s bytes are over the limit of 16 MiB; put the data in a bucket and pass its key',
      jsonb_build_array(pg_column_size(plan_task.params)));
  end if;
  if jsonb_typeof(plan_task.run) <> 'object' or pg_column_size(plan_task.run) > 1024 * 1024 then
    perform weir._invalid('run', 'expected an object of at most 1 MiB');
  end if;
  perform weir._check(weir._bad_time('run_at', plan_task.run_at));
  perform weir._check_labels(plan_task.labels);
  p := weir._lock_at_plan(plan_task.task);
  if p.task is null then
    return false;
  end if;
  if plan_task.labels is not null then
    p.class := (select weir._class(c.service, c.priority, plan_task.labels) from weir.classes c where c.id = p.class);
  end if;
  update weir.tasks q
  set plan = false, class = p.class, params = coalesce(plan_task.params, q.params),
    run = coalesce(plan_task.run, q.run), hold = coalesce(plan_task.hold, q.hold),
    run_at = coalesce(plan_task.run_at, q.run_at)
  where q.id = p.task;
  update weir.pending x
  set plan = null, class = p.class, hold = coalesce(plan_task.hold, x.hold),
    run_at = coalesce(plan_task.run_at, x.run_at)
  where x.task = p.task;
  insert into weir.events (at, type, attempt, job, task) values (t, 'planned', p.attempt, p.job, p.task);
  perform weir._advance_and_open(array[p.task], t);
  return true;
end $$;
comment on function weir.plan_task is
  'Gives a task at the gate plan its final form and lets it go on. False: it does not stand there any more.';
