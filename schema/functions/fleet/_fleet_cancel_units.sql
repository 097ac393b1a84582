-- Cancels all that is left of a fleet job: units without a task are counted as canceled, retries end, what runs is
-- asked to stop. The caller holds its row in job_live. Closes the job if nothing is left. Whoever just changed hands is
-- caught when he comes back: the job is canceled then.
create or replace function weir._fleet_cancel_units(of_job uuid, why text, t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  n int;
  again uuid[];
  over boolean;
begin
  again := array(select u.task from weir.fleet_units u where u.job = of_job and u.state = 'retrying');
  if cardinality(again) > 0 then
    perform weir._end_waiting(again, 'canceled', why, t);
  end if;
  update weir.fleet_units u set state = 'canceled', cause = why where u.job = of_job and u.state = 'waiting';
  get diagnostics n = row_count;
  perform weir._ask_to_stop(array(select u.task from weir.fleet_units u where u.job = of_job and u.state = 'running'),
    null, why, true, t);
  if n > 0 then
    update weir.job_live l set canceled = l.canceled + n where l.job = of_job
    returning l.done + l.failed + l.canceled + l.skipped = l.total into over;
    if over then
      perform weir._close_jobs(array[of_job], t);
    end if;
  end if;
end $$;
comment on function weir._fleet_cancel_units is 'Cancels what is left of a fleet job.';
