-- Gives a task that failed, was cancelled or was skipped another round of attempts. In a job it also brings back what
-- was skipped because of it, and the job with it. A task that was split into others waits for those of them that now
-- run again too.
create or replace function weir.retry(task uuid, by text default null, at timestamptz default null) returns void
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(retry.at);
  back weir.finished[];
  name record;
  holder uuid;
begin
  perform weir._refuse_owned((select q.job from weir.tasks q where q.id = retry.task));
  -- The job comes before its tasks: see weir._settle.
  perform from weir.job_live j where j.job = (select q.job from weir.tasks q where q.id = retry.task) for update;
  with d as (
    delete from weir.finished x where x.task = retry.task and x.outcome in ('failed', 'canceled', 'skipped')
    returning x as old
  ) select array_agg(d.old) into back from d;
  if back is null then
    if weir._state_of(retry.task) is null then
      perform weir._not_found('task', retry.task::text);
    end if;
    perform weir._conflict('task %s is %s: it cannot be retried',
      jsonb_build_array(retry.task, weir._state_of(retry.task)),
      hint => 'only a task that failed, was canceled or was skipped can be retried');
  end if;
  select c.service, q.unique_key as key into name from weir.tasks q join weir.classes c on c.id = q.class
  where q.id = retry.task;
  while name.key is not null and holder is null loop
    -- Another turn if the holder ends between the insert, which gives way to it, and the look.
    insert into weir.unique_keys (service, key, task) values (name.service, name.key, retry.task)
    on conflict do nothing;
    select u.task into holder from weir.unique_keys u where u.service = name.service and u.key = name.key;
  end loop;
  if holder <> retry.task then
    perform weir._conflict('task %s cannot be retried: another live task has its unique key',
      jsonb_build_array(retry.task));
  end if;
  with d as (
    delete from weir.finished x
    where x.task = any (array(select unnest(q.awaits) from weir.tasks q where q.id = retry.task and q.plan))
      and x.outcome in ('failed', 'canceled')
    returning x as old
  ) select back || coalesce(array_agg(d.old), '{}') into back from d;
  perform weir._revive(back, retry.by, t);
  perform weir._restart_attempts(back, t);
end $$;
comment on function weir.retry is 'Runs a task again that ended other than done.';
