-- Looks whether a fleet job can still come further: weir._fleet_keeps says how long it is worth waiting. When that time
-- is over, or only a person could help, what is left is missed, each unit with the reason, and the job ends: it must
-- not keep others waiting for devices that are away. Returns how many were missed.
create or replace function weir._fleet_advance(of_job uuid, t timestamptz) returns int
language plpgsql
set search_path = weir, pg_temp
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  j weir.fleet_jobs;
  checked boolean := (select f.health is not null from weir.fleet_policy f);
  until timestamptz;
  lives boolean;
  n int;
  late int := 0;
  again uuid[];
  over boolean;
begin
  select * into j from weir.fleet_jobs x where x.job = of_job and x.state <> 'ended' and x.planned_at is not null;
  if not found then
    return 0;
  end if;
  until := weir._fleet_keeps(j, checked, t);
  lives := until is not distinct from 'infinity';
  if lives and j.lingers_at is null or not lives and t < until and j.lingers_at is not null and j.missed_at = until then
    return 0;
  end if;
  -- The job's row first, as everywhere: see weir._fleet_next.
  perform from weir.job_live l where l.job = of_job for update;
  if not found then
    return 0;
  end if;
  if lives or t < until then
    update weir.fleet_jobs x
    set lingers_at = case when not lives then coalesce(x.lingers_at, t) end,
      missed_at = case when not lives then until end
    where x.job = of_job;
    return 0;
  end if;
  again := array(select u.task from weir.fleet_units u where u.job = of_job and u.state = 'retrying' order by 1);
  if cardinality(again) > 0 then
    late := weir._end_waiting(again, 'skipped', 'missed: its device did not come back in time', t);
    -- Those that ended here; the trigger on job_live would do it too, without the reason.
    update weir.fleet_units u
    set state = 'missed',
      cause = coalesce((select weir._sentence(jsonb_strip_nulls(a.reason)) from weir._fleet_answer(u, j, checked, t) a
        where u.device is not null), 'no device of its target could serve it')
    where u.job = of_job and u.state = 'retrying' and exists (select from weir.finished f where f.task = u.task);
  end if;
  update weir.fleet_units u
  set state = 'missed',
    cause = coalesce((select weir._sentence(jsonb_strip_nulls(a.reason)) from weir._fleet_answer(u, j, checked, t) a
      where u.device is not null), 'no device of its target could serve it')
  where u.job = of_job and u.state = 'waiting';
  get diagnostics n = row_count;
  if n + late = 0 then
    return 0;
  end if;
  insert into weir.events (at, type, kind, subject, job, level, message)
  values (t, 'missed', 'fleet', of_job, of_job, 'warn',
    format('%s of %s units: no device could serve them', n + late, j.targeted)
      || case when t - j.lingers_at >= interval '1 s' then ' for ' || weir._span(t - j.lingers_at) else '' end);
  update weir.job_live l
  set skipped = l.skipped + n,
    cause = case when l.done + l.failed + l.canceled = 0 then 'no device could serve it' else l.cause end
  where l.job = of_job returning l.done + l.failed + l.canceled + l.skipped = l.total into over;
  if over then
    perform weir._close_jobs(array[of_job], t);
  end if;
  return n + late;
end $$;
comment on function weir._fleet_advance is 'Ends a fleet job that cannot come further.';
