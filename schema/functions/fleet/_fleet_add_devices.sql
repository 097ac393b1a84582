-- Devices join a fleet job that runs: they get units behind those that it has.
create or replace function weir._fleet_add_devices(j weir.fleet_jobs, ids int[], t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  joined int[] := array(select d.id from weir.devices d
    where d.id = any (ids) and weir._fleet_matches(j.spec -> 'target', d.serial, d.labels) order by d.serial);
  n int := cardinality(joined) * coalesce((j.spec ->> 'repeat')::int, 1);
begin
  if n = 0 then
    return;
  end if;
  update weir.job_live l set total = l.total + n where l.job = j.job and l.cancel_at is null;
  if not found then
    return;
  end if;
  update weir.jobs x set total = x.total + n where x.id = j.job;
  insert into weir.fleet_units (job, unit, device, round)
  select j.job, (select max(u.unit) from weir.fleet_units u where u.job = j.job) + g,
    joined[(g - 1) % cardinality(joined) + 1], 1 + (g - 1) / cardinality(joined)
  from generate_series(1, n) g;
  update weir.fleet_jobs x
  set targeted = x.targeted + n, breaker = weir._fleet_breaker(j), lingers_at = null, missed_at = null
  where x.job = j.job;
  insert into weir.events (at, type, kind, subject, job, message)
  values (t, 'joined', 'fleet', j.job, j.job, format('%s devices', cardinality(joined)));
end $$;
comment on function weir._fleet_add_devices is 'Units for devices that join a running job.';
