-- Ends a queued job that will not be built, with the reason. A job that has tasks ends with them.
create or replace function weir.close_job(job uuid, outcome text, cause text, by text default null,
  at timestamptz default null)
returns void
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(close_job.at);
begin
  if close_job.outcome is null or close_job.outcome not in ('done', 'failed', 'canceled') then
    perform weir._invalid('outcome', 'done, failed or canceled');
  end if;
  if not weir._close_queued(close_job.job, close_job.outcome::weir.state, close_job.cause, close_job.by, t) then
    if not exists (select from weir.jobs x where x.id = close_job.job) then
      perform weir._not_found('job', close_job.job::text);
    end if;
    perform weir._conflict('job %s is not queued any more', jsonb_build_array(close_job.job),
      hint => 'a job that has tasks ends with them: weir.cancel_job');
  end if;
end $$;
comment on function weir.close_job is 'Ends a queued job that has no tasks.';
