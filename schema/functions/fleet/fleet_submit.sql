-- Submits a fleet job. It waits, as a queued job of the engine, until it is the oldest of its lane and no other of the
-- lane is active; its devices are those that there are by then. The spec is a snapshot: nothing that changes later
-- changes it. The same idempotency key again returns the same job. schedule: the schedule it is a run of.
create or replace function weir.fleet_submit(name text, spec jsonb, by text default null,
  idempotency_key text default null, schedule text default null, at timestamptz default null)
returns uuid
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(fleet_submit.at);
  j weir.fleet_jobs := weir._fleet_spec(fleet_submit.spec);
  was uuid;
begin
  if coalesce(fleet_submit.name, '') = '' or length(fleet_submit.name) > 200 then
    perform weir._invalid('name', 'a fleet job has a name of 1 to 200 characters');
  end if;
  j.job := weir._id(t);
  if fleet_submit.idempotency_key is not null then
    was := weir._take_key(fleet_submit.idempotency_key, j.job,
      case
        when fleet_submit.schedule is null then
          jsonb_build_object('name', fleet_submit.name, 'kind', 'fleet', 'spec', fleet_submit.spec) end);
    if was <> j.job then
      return was;
    end if;
  end if;
  -- Every claim looks at the active job of each lane.
  if (select count(distinct x.lane) from weir.fleet_jobs x where x.state <> 'ended' and x.lane <> j.lane) >= 32 then
    perform weir._conflict('32 lanes have jobs: %s cannot be one more', jsonb_build_array(j.lane),
      hint => 'use a lane that is there, or wait until one is empty');
  end if;
  -- The transaction has its id before it takes a number: see weir._submit.
  perform pg_current_xact_id();
  j.order_seq := nextval('weir.order_seq');
  insert into weir.jobs (id, created_at, order_seq, kind, name, priority, total, params, schedule)
  values (j.job, t, j.order_seq, 'fleet', fleet_submit.name, j.priority, 0, nullif(j.spec -> 'params', 'null'),
    fleet_submit.schedule);
  insert into weir.job_live (job, total, due, schedule, fleet, note)
  values (j.job, 0, 'infinity', fleet_submit.schedule, true, 'waits until it is the oldest fleet job of its lane');
  insert into weir.fleet_jobs (job, lane, order_seq, priority, spec, by, max_attempts, timeout, backoff, infra_attempts,
    place, breaker, linger, joins, created_at)
  values (j.job, j.lane, j.order_seq, j.priority, j.spec, fleet_submit.by, j.max_attempts, j.timeout, j.backoff,
    j.infra_attempts, j.place, j.breaker, j.linger, j.joins, t);
  insert into weir.events (at, type, kind, subject, job, source, message)
  values (t, 'queued', 'job', j.job, j.job, fleet_submit.by, fleet_submit.name);
  perform weir._fleet_next(j.lane, t, patient => false);
  return j.job;
end $$;
comment on function weir.fleet_submit is 'Submits a job for devices of the fleet and returns its id.';
