-- Makes the oldest waiting fleet job active if none is, in the transaction that ended the one before. A lock makes
-- callers follow one another; were it not there, the index fleet_active would refuse the second. The job's row is
-- locked before anything of it is changed, as everywhere: who cancels it at this moment comes first or later.
-- Who is not patient leaves it to whoever is at it: a submission may be part of a long transaction, and nobody must
-- wait for its end.
create or replace function weir._fleet_next(t timestamptz, patient boolean default true) returns uuid
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  next weir.fleet_jobs;
begin
  -- An older snapshot would not see what the lock protects; the leader's pass does this work.
  if current_setting('transaction_isolation') <> 'read committed'
    or exists (select from weir.fleet_jobs j where j.state = 'active') then
    return null;
  end if;
  if patient then
    perform pg_advisory_xact_lock(89, 0);
  elsif not pg_try_advisory_xact_lock(89, 0) then
    return null;
  end if;
  loop
    if exists (select from weir.fleet_jobs j where j.state = 'active') then
      return null;
    end if;
    select * into next from weir.fleet_jobs j where j.state = 'waiting' order by j.priority desc, j.order_seq limit 1;
    if not found then
      return null;
    end if;
    perform from weir.job_live l where l.job = next.job for update;
    if not found then
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
comment on function weir._fleet_next is 'waiting → active for the oldest fleet job, if none is active.';
