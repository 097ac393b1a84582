-- Cancels all that is left of a job: what waits ends at once, what runs is asked to stop; a queued job ends. A job
-- cancelled before answers the same again.
-- Tasks of rule finally still run behind what was cancelled. A second cancel ends them too. One that comes within three
-- seconds is the first one repeated: by a button pressed twice, or by a caller who got no answer.
-- What slips through because it was just changing hands is caught by the sweep (weir.tend).
create or replace function weir.cancel_job(job uuid, by text default null, reason text default null,
  at timestamptz default null, out canceled int, out requested int)
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(cancel_job.at);
  note text := weir._note('canceled', cancel_job.by, cancel_job.reason);
  tasks uuid[];
  again boolean;
begin
  cancel_job.job := weir._job_of(cancel_job.job);
  perform weir._check(weir._bad_text('by', cancel_job.by, 500), weir._bad_text('reason', cancel_job.reason, 8000));
  perform weir._refuse_owned(cancel_job.job);
  if not exists (select from weir.jobs j where j.id = cancel_job.job) then
    perform weir._not_found('job', cancel_job.job::text);
  end if;
  again := exists (select from weir.job_live j
    where j.job = cancel_job.job and (j.stop_at is not null or j.cancel_at <= t - interval '3 seconds'));
  -- Leases before the job, as everywhere. A transaction that has canceled another job holds that one, so it does not
  -- wait for leases any more: who has one of them may wait for the other job. Those are asked below, or by the sweep.
  tasks := weir._canceled_tasks(cancel_job.job, again);
  requested := weir._ask_to_stop(tasks, cancel_job.by, note,
    current_setting('weir.cancels', true) is not distinct from pg_current_xact_id()::text, t);
  perform set_config('weir.cancels', pg_current_xact_id()::text, true);
  if weir._close_queued(cancel_job.job, 'canceled', note, cancel_job.by, t) then
    canceled := 0; requested := 0;
    return;
  end if;
  update weir.job_live j
  set cancel_at = coalesce(j.cancel_at, t), stop_at = case when again then coalesce(j.stop_at, t) end
  where j.job = cancel_job.job;
  if not found then
    if (select f.outcome from weir.job_finished f where f.job = cancel_job.job) <> 'canceled' then
      perform weir._conflict('job %s has already ended', jsonb_build_array(cancel_job.job));
    end if;
    canceled := 0; requested := 0;
    return;
  end if;
  -- Again: some may have joined before the job was ours.
  tasks := weir._canceled_tasks(cancel_job.job, again);
  canceled := weir._end_waiting(tasks, 'canceled', note, t);
  requested := requested
    + weir._ask_to_stop(array(select r.task from weir.running r where r.task = any (tasks) and r.cancel_at is null),
      cancel_job.by, note, true, t);
  perform weir._notify_children(tasks);
end $$;
comment on function weir.cancel_job is 'Cancels every task of a job that has not ended.';
