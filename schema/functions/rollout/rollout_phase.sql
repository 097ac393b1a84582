-- An executor is about to act: locked, sent, applied. False: the lease is over, and it must not; that it tried is
-- written down. What it waited for has come.
-- Who has locked a database has reached it, and knows that it is the right one.
create or replace function weir.rollout_phase(task uuid, attempt int, token uuid, phase text,
  at timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_phase.at);
begin
  -- The lease is kept from ending until this is written, so that whoever ends it sees the phase.
  perform from weir.running l
  where l.task = rollout_phase.task and l.attempt = rollout_phase.attempt and l.token = rollout_phase.token
    and l.until > t
  for key share;
  if not found then
    perform weir._refuse('phase ' || rollout_phase.phase, array[rollout_phase.task], array[rollout_phase.attempt],
      array[rollout_phase.token], '{}', '{}', t);
    return false;
  end if;
  update weir.rollout_runs g set phase = rollout_phase.phase, says = null, says_since = null
  where g.task = rollout_phase.task and g.attempt = rollout_phase.attempt
    and (g.phase <> rollout_phase.phase or g.says is not null);
  if rollout_phase.phase = 'locked' then
    update weir.databases d set fault = null, checked_at = t from weir.rollout_tasks x
    where x.task = rollout_phase.task and d.name = x.database and d.fault is not null;
    if found then
      insert into weir.events (at, type, kind, subject, source, message)
      select t, 'reached', 'database', x.database, 'executor', 'it answers again' from weir.rollout_tasks x
      where x.task = rollout_phase.task;
    end if;
  end if;
  return true;
end $$;
comment on function weir.rollout_phase is 'How far a run is, before it acts.';
