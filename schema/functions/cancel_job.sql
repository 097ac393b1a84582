-- Cancels all that is left of a job. Returns how many tasks ended at once and how many were asked to stop.
create or replace function weir.cancel_job(job uuid, by text default null, reason text default null, at timestamptz default null, out canceled int, out requested int)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := coalesce(cancel_job.at, clock_timestamp());
  q record;
begin
  canceled := 0; requested := 0;
  if not exists (select from weir.jobs j where j.id = cancel_job.job) then
    perform weir._not_found('job', cancel_job.job::text);
  end if;
  update weir.job_live j set cancel_at = coalesce(j.cancel_at, t) where j.job = cancel_job.job;
  if not found then
    if (select f.outcome from weir.job_finished f where f.job = cancel_job.job) = 'canceled' then
      return;
    end if;
    raise exception using errcode = 'WR409', message = format('job %s has already ended', cancel_job.job);
  end if;
  -- From the end backwards, so that no need is cancelled before what it would skip.
  for q in select x.id from weir.tasks x where x.job = cancel_job.job and not exists (select from weir.finished f where f.task = x.id) order by x.position desc loop
    if weir.cancel(q.id, cancel_job.by, cancel_job.reason, t) = 'canceled' then
      canceled := canceled + 1;
    else
      requested := requested + 1;
    end if;
  end loop;
end $$;
comment on function weir.cancel_job is 'Cancels every task of a job that has not ended.';
