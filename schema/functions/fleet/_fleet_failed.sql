-- A run on a device failed for good. That has a name of its own in the timeline, failed_final, and the device leaves
-- the schedule: at once by the policy strict; by evidence it is suspect until a second job has failed on it. Who says
-- "do not try again" before the attempts are spent speaks of the job and not of the device, and neither is it the
-- device's fault when its PC was lost three times, or when the infrastructure broke a run that may go elsewhere, or
-- when its PC could not begin the last attempt.
-- A job that fails on many devices that were fine, and on more than it succeeds on, is bad itself: it is stopped.
create or replace function weir._fleet_failed(u weir.fleet_units, f weir.finished, of_device int, t timestamptz)
returns void
language plpgsql
set search_path = weir, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  j weir.fleet_jobs;
  d weir.devices;
  rules weir.fleet_policy;
  given int;
  spent boolean;
  broken boolean;
  seen uuid[];
  bad int;
  well int;
begin
  select * into j from weir.fleet_jobs x where x.job = u.job;
  select * into rules from weir.fleet_policy;
  -- A PC that was lost three times spends no attempt: then it is not spent.
  select g.crashes + g.returns into given from weir.forgiven g where g.task = u.task;
  spent := f.attempt - coalesce(given, 0) >= j.max_attempts;
  broken := u.infra >= j.infra_attempts;
  select * into d from weir.devices x where x.id = of_device for update;
  insert into weir.events (at, type, attempt, job, task, level, message, data)
  values (t, 'failed_final', f.attempt, u.job, u.task, 'error', f.cause,
    jsonb_strip_nulls(jsonb_build_object('device', d.serial, 'reason', (
      select e.data ->> 'reason' from weir.events e
      where e.task = u.task and e.type = 'failed' order by e.seq desc limit 1))));
  if j.stopped is not null then
    return;
  end if;
  update weir.fleet_units x set good = d.health in ('good', 'unknown', 'suspect')
  where x.job = u.job and x.unit = u.unit;
  if d.health in ('good', 'unknown', 'suspect') and (spent or broken and j.place = 'same')
    and u.harmless is not true then
    seen := case when d.health = 'suspect' then d.evidence else '{}' end || u.task;
    if rules.policy = 'strict'
      or (select count(distinct q.job)
        from unnest(seen) e (task), lateral (select q.job from weir.tasks q where q.id = e.task offset 0) q) >= 2 then
      perform weir._device_health(d.id, 'quarantined',
        format('%s failed for good: %s', (select x.name from weir.jobs x where x.id = u.job),
          coalesce(f.cause, 'no reason given')), 'fleet', u.job, seen, t);
    else
      perform weir._device_health(d.id, 'suspect',
        format('%s failed for good: %s', (select x.name from weir.jobs x where x.id = u.job),
          coalesce(f.cause, 'no reason given')), 'fleet', u.job, seen, t);
    end if;
  end if;
  if j.breaker > 0 then
    select count(distinct x.device) into bad from weir.fleet_units x
    where x.job = u.job and x.state = 'failed' and x.good;
    if bad >= j.breaker then
      well := coalesce((select l.done from weir.job_live l where l.job = u.job),
        (select e.done from weir.job_finished e where e.job = u.job), 0);
      if bad > well then
        perform weir._fleet_stop(u.job,
          format('stopped as bad: it failed on %s devices that were fine, and succeeded on %s', bad, well), t);
      end if;
    end if;
  end if;
end $$;
comment on function weir._fleet_failed is 'FAILED_FINAL: the device leaves the schedule, or the job is stopped.';
