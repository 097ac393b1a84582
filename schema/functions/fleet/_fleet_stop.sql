-- Stops a fleet job that is bad: what waits is canceled, what runs is asked to stop, and the devices that it made
-- suspect or put out are as they were.
create or replace function weir._fleet_stop(of_job uuid, why text, t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  d int;
begin
  update weir.fleet_jobs j set stopped = why where j.job = of_job;
  insert into weir.events (at, type, kind, subject, job, level, message)
  values (t, 'stopped', 'fleet', of_job, of_job, 'error', why);
  for d in select x.id from weir.devices x where x.health_job = of_job and x.health in ('suspect', 'quarantined')
    order by x.id for update loop
    perform weir._device_health(d, 'good', format('restored: the job that put it out was %s', why), 'fleet', null, null,
      t);
  end loop;
  update weir.job_live l set cause = why where l.job = of_job;
  if found then
    perform weir._fleet_cancel_units(of_job, why, t);
  end if;
end $$;
comment on function weir._fleet_stop is 'Stops a bad job and restores its devices.';
