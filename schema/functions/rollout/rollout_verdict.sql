-- The resolver has asked a database what became of a run: applied, not_applied or partial; later: nobody can tell now,
-- look again after a while. False: it is not unknown any more.
create or replace function weir.rollout_verdict(task uuid, attempt int, verdict text, note text,
  at timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_verdict.at);
  r weir.rollouts := weir._rollout_of(rollout_verdict.task);
begin
  if rollout_verdict.verdict not in ('applied', 'not_applied', 'partial', 'later') then
    perform weir._invalid('verdict', '%L is none', jsonb_build_array(rollout_verdict.verdict));
  end if;
  if not exists (select from weir.rollout_runs g
    where g.task = rollout_verdict.task and g.attempt = rollout_verdict.attempt and g.unknown) then
    return false;
  end if;
  if rollout_verdict.verdict = 'later' then
    update weir.rollout_runs g
    set looks = g.looks + 1, look_at = t + least(interval '1 min', interval '1 s' * power(2, least(g.looks, 6))),
      note = rollout_verdict.note
    where g.task = rollout_verdict.task and g.attempt = rollout_verdict.attempt;
  else
    perform weir._rollout_resolved(r, rollout_verdict.task, rollout_verdict.verdict, rollout_verdict.note, 'resolver',
      rollout_verdict.at);
  end if;
  return true;
end $$;
comment on function weir.rollout_verdict is 'What the resolver found out about an unknown run.';
