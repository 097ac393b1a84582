-- An executor is about to act: locked, sent, applied. False: the lease is over, and it must not.
create or replace function weir.rollout_phase(task uuid, attempt int, token uuid, phase text, at timestamptz default null) returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_phase.at);
begin
  -- The lease is kept from ending until this is written, so that whoever ends it sees the phase.
  perform from weir.running l where l.task = rollout_phase.task and l.attempt = rollout_phase.attempt and l.token = rollout_phase.token and l.until > t for key share;
  if not found then
    return false;
  end if;
  update weir.rollout_runs g set phase = rollout_phase.phase where g.task = rollout_phase.task and g.attempt = rollout_phase.attempt and g.phase <> rollout_phase.phase;
  return true;
end $$;
comment on function weir.rollout_phase is 'How far a run is, before it acts.';
