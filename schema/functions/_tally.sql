-- Counts tasks that ended into their jobs (the caller holds those), and closes a job when its last task ended: canceled or failed if any task is, else done.
-- The planner is told when somebody may have waited for a job to end: its parent, or a queued one that is due.
create or replace function weir._tally(ended uuid[], t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = on
as $$
#variable_conflict use_column
declare
  jobs uuid[];
  awaited boolean;
begin
  jobs := array(select distinct q.job from unnest(ended) e (task), lateral (select q.job from weir.tasks q where q.id = e.task offset 0) q);
  update weir.job_live j set done = j.done + n.done, failed = j.failed + n.failed, canceled = j.canceled + n.canceled, skipped = j.skipped + n.skipped,
    cause = coalesce(j.cause, n.cause)
  from (
    select q.job, count(*) filter (where f.outcome = 'done') as done, count(*) filter (where f.outcome = 'failed') as failed,
      count(*) filter (where f.outcome = 'canceled') as canceled, count(*) filter (where f.outcome = 'skipped') as skipped,
      min(coalesce(q.key, q.id::text) || ': ' || f.cause) filter (where f.outcome in ('failed', 'canceled')) as cause
    from unnest(ended) e (task), lateral (select q.id, q.job, q.key from weir.tasks q where q.id = e.task offset 0) q,
      lateral (select f.outcome, f.cause from weir.finished f where f.task = e.task offset 0) f
    group by q.job
  ) n
  where j.job = n.job;
  with closed as (
    delete from weir.job_live j where j.job = any (jobs) and j.done + j.failed + j.canceled + j.skipped = j.total returning j.*,
      (case when j.cancel_at is not null and j.canceled > 0 then 'canceled' when j.failed > 0 then 'failed' when j.canceled > 0 then 'canceled' else 'done' end)::weir.state as outcome
  ), f as (
    insert into weir.job_finished (job, at, outcome, done, failed, canceled, skipped, cause)
    select c.job, t, c.outcome, c.done, c.failed, c.canceled, c.skipped, c.cause from closed c
  ), e as (
    insert into weir.events (at, type, kind, subject, job, message) select t, c.outcome, 'job', c.job, c.job, c.cause from closed c
  )
  select bool_or(c.parent is not null or coalesce(c.definition::text, c.schedule) is not null and exists (select from weir.job_live q where q.due <= t)) into awaited from closed c;
  if awaited then
    perform pg_notify('weir_plan', '');
  end if;
end $$;
comment on function weir._tally is 'Adds ended tasks to their jobs and closes the jobs that are complete.';
