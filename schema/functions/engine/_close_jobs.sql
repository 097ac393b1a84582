-- Closes jobs whose last task ended (the caller holds them): canceled or failed if any task is, else done. A fleet job
-- that no device has served is failed, too.
-- The planner is told when somebody may have waited for a job to end: its parent, or a queued one that is due.
create or replace function weir._close_jobs(jobs uuid[], t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = on
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  awaited boolean;
begin
  with closed as (
    delete from weir.job_live j where j.job = any (jobs) and j.done + j.failed + j.canceled + j.skipped = j.total
    returning j.*,
      (case when j.cancel_at is not null and j.canceled > 0 then 'canceled'
          when j.failed > 0 or j.fleet and j.done = 0 and j.skipped > 0 then 'failed'
          when j.canceled > 0 then 'canceled' else 'done' end)::weir.state as outcome
  ), f as (
    insert into weir.job_finished (job, at, outcome, done, failed, canceled, skipped, cause)
    select c.job, t, c.outcome, c.done, c.failed, c.canceled, c.skipped, c.cause from closed c
  ), e as (
    insert into weir.events (at, type, kind, subject, job, message)
    select t, c.outcome, 'job', c.job, c.job, c.cause from closed c
  )
  select bool_or(c.parent is not null
    or coalesce(c.definition::text, c.schedule) is not null and exists (select from weir.job_live q where q.due <= t))
  into awaited from closed c;
  if awaited then
    perform pg_notify('weir_plan', '');
  end if;
end $$;
comment on function weir._close_jobs is 'Closes jobs that are complete.';
