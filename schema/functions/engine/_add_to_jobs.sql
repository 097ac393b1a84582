-- Tasks join jobs that the caller holds, after he has checked them: any number of queued jobs, which are built by it
-- (base 0), or one that lives, whose positions end at base. of names the job of each task; params, by job, become those
-- of a job that has none. known are tasks of the one job: see weir._write_job_tasks. Returns the new tasks.
create or replace function weir._add_to_jobs(specs weir.task_spec[], of uuid[], base int, params jsonb,
  known_keys text[], known_ids uuid[], t timestamptz)
returns uuid[]
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  made record;
begin
  with n as materialized (
    select o.job, count(*)::int as added from unnest(of) o (job) group by o.job
  ), l as (
    update weir.job_live x set total = x.total + n.added, due = null, note = null from n where x.job = n.job
  ), j as (
    update weir.jobs x
    set total = x.total + n.added, params = coalesce(x.params, nullif(_add_to_jobs.params -> n.job::text, 'null'))
    from n where x.id = n.job
  )
  insert into weir.events (at, type, kind, subject, job, message)
  select t, 'built', 'job', n.job, n.job, format('%s tasks', n.added) from n where base = 0 order by n.job;
  select * into made from weir._write_job_tasks(specs, of, base, known_keys, known_ids, t);
  if cardinality(made.lanes) > 0 or cardinality(made.pools) > 0 then
    perform weir._open(made.lanes, made.pools, t);
  end if;
  perform pg_notify('weir_available', '');
  return made.ids;
end $$;
comment on function weir._add_to_jobs is 'Tasks join jobs that live, or build queued ones.';
