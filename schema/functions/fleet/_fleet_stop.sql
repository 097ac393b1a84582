-- Stops a fleet job that is bad: what waits is canceled, what runs is asked to stop, and what it said of devices counts
-- no more: a device that a fleet job made suspect or put out is judged by the failures of other jobs alone.
create or replace function weir._fleet_stop(of_job uuid, why text, t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  rules text := (select p.policy from weir.fleet_policy p);
  d weir.devices;
  rest uuid[];
  jobs uuid[];
  fair text;
begin
  update weir.fleet_jobs j set stopped = why where j.job = of_job;
  insert into weir.events (at, type, kind, subject, job, level, message)
  values (t, 'stopped', 'fleet', of_job, of_job, 'error', why);
  for d in select x.* from weir.devices x
    where x.health in ('suspect', 'quarantined') and (x.health_job = of_job or exists (
      select from unnest(x.evidence) e (task), lateral (
        select q.job from weir.tasks q where q.id = e.task offset 0) q where q.job = of_job))
    order by x.id for update loop
    select coalesce(array_agg(e.task order by e.n), '{}'), array_agg(distinct q.job) filter (where q.job is not null)
    into rest, jobs
    from unnest(d.evidence) with ordinality e (task, n)
    left join lateral (select q.job from weir.tasks q where q.id = e.task offset 0) q on true
    where q.job is distinct from of_job;
    fair := case when cardinality(jobs) >= 2 or cardinality(jobs) = 1 and rules = 'strict' then 'quarantined'
      when cardinality(jobs) = 1 then 'suspect' else 'good' end;
    if d.health_job is null or fair = d.health then
      -- A person or a health task put it out, or other jobs alone suffice.
      update weir.devices x set evidence = rest,
        health_job = case when x.health_job = of_job then jobs[cardinality(jobs)] else x.health_job end
      where x.id = d.id;
    else
      perform weir._device_health(d.id, fair, format('restored: a job that failed on it was %s', why), 'fleet',
        jobs[cardinality(jobs)], rest, t);
    end if;
  end loop;
  update weir.job_live l set cause = why where l.job = of_job;
  if found then
    perform weir._fleet_cancel_units(of_job, why, t);
  end if;
end $$;
comment on function weir._fleet_stop is 'Stops a bad job and restores its devices.';
