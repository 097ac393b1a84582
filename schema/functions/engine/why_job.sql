-- Why a job is not further: for a queued one, when it is due and what else it waits for; for one that runs, how many
-- tasks stand at each gate, with what stops the first of them, how many may start and how many run. Reasons are as in
-- weir.why.
create or replace function weir.why_job(job uuid, at timestamptz default null)
returns table (gate text, open boolean, reason text, blocker uuid, since timestamptz, code text, args jsonb)
language sql stable security definer
set search_path = weir, pg_temp
set jit = off
as $$
  select w.gate, w.open, weir._sentence(r.reason), w.blocker, w.since, r.reason ->> 'code', r.reason - 'code'
  from weir._why_job(weir._job_of(why_job.job), weir._clock(why_job.at)) w,
    lateral (select jsonb_strip_nulls(w.reason) as reason) r
$$;
comment on function weir.why_job is 'Why a job is where it is: its time, its gates, its workers.';
