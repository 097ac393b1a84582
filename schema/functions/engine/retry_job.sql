-- Runs every task of a job again that failed or was cancelled, in the order of their needs, and with them what was
-- skipped because of them.
-- What is done stays done.
create or replace function weir.retry_job(job uuid, by text default null, reason text default null,
  at timestamptz default null)
returns int
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(retry_job.at);
  l weir.job_live;
  back weir.finished[];
begin
  retry_job.job := weir._job_of(retry_job.job);
  perform weir._refuse_owned(retry_job.job);
  select * into l from weir.job_live x where x.job = retry_job.job for update;
  if not found and not exists (select from weir.jobs x where x.id = retry_job.job) then
    perform weir._not_found('job', retry_job.job::text);
  end if;
  if l.due is not null or l.cancel_at is not null then
    perform weir._conflict('job %s is %s: it cannot be retried',
      jsonb_build_array(retry_job.job, case when l.due is not null then 'queued' else 'being canceled' end),
      hint => case when l.due is not null then 'it has not run yet' else 'wait until it has ended' end);
  end if;
  with d as (
    delete from weir.finished x
    where x.task = any (array(select q.id from weir.tasks q where q.job = retry_job.job))
      and x.outcome in ('failed', 'canceled')
    returning x as old
  ) select array_agg(d.old order by (d.old).task) into back from d;
  if back is null then
    perform weir._conflict('job %s has no task that failed or was canceled', jsonb_build_array(retry_job.job),
      hint => 'to run all of it again, submit it again');
  end if;
  perform weir._revive(back, retry_job.by, t, true, weir._text(retry_job.reason));
  perform weir._restart_attempts(back, t);
  return cardinality(back);
end $$;
comment on function weir.retry_job is 'Runs again what failed or was canceled of a job. Returns how many tasks.';
