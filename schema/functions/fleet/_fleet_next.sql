-- Makes the oldest waiting fleet job of a lane active if none of it is, in the transaction that ended the one before. A
-- lock makes callers follow one another; were it not there, the index fleet_active would refuse the second. The job's
-- row is locked before anything of it is changed, as everywhere: who cancels it at this moment comes first or later.
-- Who keeps it longer than a moment is not waited for (weir._fleet_hold).
-- Who is not patient leaves it to whoever is at it: a submission may be part of a long transaction, and nobody must
-- wait for its end.
create or replace function weir._fleet_next(of_lane text, t timestamptz, patient boolean default true)
returns uuid
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  next weir.fleet_jobs;
  held boolean;
begin
  -- An older snapshot would not see what the lock protects; the leader's pass does this work.
  if current_setting('transaction_isolation') <> 'read committed'
    or exists (select from weir.fleet_jobs j where j.state = 'active' and j.lane = of_lane) then
    return null;
  end if;
  if patient then
    perform pg_advisory_xact_lock(89, weir._fleet_lane_key(of_lane));
  elsif not pg_try_advisory_xact_lock(89, weir._fleet_lane_key(of_lane)) then
    return null;
  end if;
  loop
    if exists (select from weir.fleet_jobs j where j.state = 'active' and j.lane = of_lane) then
      return null;
    end if;
    select * into next from weir.fleet_jobs j where j.state = 'waiting' and j.lane = of_lane
    order by j.priority desc, j.order_seq limit 1;
    if not found then
      return null;
    end if;
    held := weir._fleet_hold(next.job);
    if held is null then
      -- The leader's pass makes the next one active.
      return null;
    end if;
    if not held then
      -- It has just ended. Should its row not say so, it does now.
      update weir.fleet_jobs j set state = 'ended', ended_at = coalesce(j.ended_at, t)
      where j.job = next.job and j.state <> 'ended';
      continue;
    end if;
    continue when next.planned_at is null and not weir._fleet_plan(next.job, t);
    update weir.fleet_jobs j set state = 'active', activated_at = t, lingers_at = null where j.job = next.job;
    insert into weir.events (at, type, kind, subject, job) values (t, 'activated', 'fleet', next.job, next.job);
    perform pg_notify('weir_available', 'fleet');
    return next.job;
  end loop;
end $$;
comment on function weir._fleet_next is 'waiting → active for the oldest fleet job of a lane, if none of it is active.';
