-- A person decides that a task need not run: what depends on it goes on as if it were done. Also the decision that lets
-- a lane go on after a failure.
create or replace function weir.skip(task uuid, reason text, by text default null, at timestamptz default null)
returns void
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(skip.at);
  note text := weir._note('skipped', skip.by, skip.reason);
  was record;
  f weir.finished;
begin
  perform weir._refuse_owned((select q.job from weir.tasks q where q.id = skip.task));
  if coalesce(skip.reason, '') = '' then
    perform weir._invalid('reason', 'say why the task need not run');
  end if;
  -- The job comes before its tasks: see weir._settle.
  perform from weir.job_live j where j.job = (select q.job from weir.tasks q where q.id = skip.task) for update;
  -- A failed task that is skipped lives again for a moment, so that all that was skipped because of it comes back.
  delete from weir.finished x where x.task = skip.task and x.outcome = 'failed' returning x.* into f;
  if found then
    perform weir._revive(array[f], skip.by, t);
  end if;
  select * into was from weir._remove_waiting(skip.task);
  if was.was is null then
    if weir._state_of(skip.task) is null then
      perform weir._not_found('task', skip.task::text);
    end if;
    perform weir._conflict('task %s is %s: it cannot be skipped',
      jsonb_build_array(skip.task, weir._state_of(skip.task)),
      hint => 'only a task that waits or has failed can be skipped');
  end if;
  delete from weir.edges e where e.task = skip.task;
  perform weir._close(array[weir._finished_row(skip.task, t, (was.p).attempt, 'skipped', note, passes => true,
    opened_at => case when was.was = 'available' then (was.p).since end)], skip.by);
  perform weir._after_end(array[skip.task], array_remove(array[(was.p).lane], null),
    array_remove(array[(was.p).pool], null), t);
  -- What it was split into need not run either.
  perform weir._end_waiting(q.awaits, 'skipped', note, t) from weir.tasks q
  where q.id = skip.task and q.awaits is not null;
  perform weir._notify_children(array[skip.task]);
end $$;
comment on function weir.skip is 'Ends a waiting or failed task as skipped; its dependents go on.';
