-- Freezes what a fleet job wants: its units, from the devices that there are now. From here on the engine counts it:
-- its total is the number of units, and it ends with the last of them. The caller holds its row in job_live. False:
-- there is nothing to do, and it has ended.
create or replace function weir._fleet_plan(of_job uuid, t timestamptz) returns boolean
language plpgsql
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  most constant int := 100000;
  j weir.fleet_jobs;
  rounds int;
  found_devices int[];
  n int;
  why text;
begin
  select * into j from weir.fleet_jobs x where x.job = of_job;
  rounds := coalesce((j.spec ->> 'repeat')::int, 1);
  if j.spec ->> 'any' is not null then
    n := (j.spec ->> 'any')::int * rounds;
  else
    found_devices := array(select d.id from weir.devices d
      where d.health <> 'retired' and weir._fleet_matches(j.spec -> 'target', d.serial, d.labels) order by d.serial);
    n := cardinality(found_devices) * rounds;
  end if;
  if n = 0 or n > most then
    why := case when n = 0 then concat_ws(': ', 'no device is in its target', (
        select format('%s keeps %s of %s out', x.said ->> 'condition', x.n, sum(x.n) over ()) from (
          select weir._fleet_unmatched(j.spec -> 'target', d.serial, d.labels) - 'has' as said, count(*) as n
          from weir.devices d where d.health <> 'retired' group by 1
        ) x where x.said ? 'condition' order by x.n desc, x.said ->> 'condition' limit 1))
      else format('%s runs are over the limit of %s for one job', n, most) end;
    perform weir._close_queued(of_job, 'failed', why, null, t);
    update weir.fleet_jobs x set state = 'ended', ended_at = t where x.job = of_job;
    return false;
  end if;
  insert into weir.fleet_units (job, unit, device, round)
  select of_job, g,
    case when found_devices is not null then found_devices[(g - 1) % cardinality(found_devices) + 1] end,
    1 + (g - 1) / (n / rounds)
  from generate_series(1, n) g;
  update weir.job_live l set total = n, due = null, note = null where l.job = of_job;
  update weir.jobs x set total = n where x.id = of_job;
  update weir.fleet_jobs x set planned_at = t, targeted = n, breaker = weir._fleet_breaker(j) where x.job = of_job;
  insert into weir.events (at, type, kind, subject, job, message)
  values (t, 'built', 'job', of_job, of_job, format('%s units', n));
  return true;
end $$;
comment on function weir._fleet_plan is 'Makes the units of a fleet job.';
