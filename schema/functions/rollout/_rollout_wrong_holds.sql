-- What weir._rollout_settle would change in these rollouts: the groups of tasks whose holds are not what they should
-- be. No row while all is well. One look at all of them together, for a look at each costs more than what it sees.
create or replace function weir._rollout_wrong_holds(ids uuid[])
returns table (rollout uuid, state text, hold jsonb, n int, want jsonb)
language plpgsql stable
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  facts jsonb := weir._rollout_facts(ids);
  stages jsonb := (select coalesce(jsonb_agg(s), '[]') from weir._rollout_stages(facts) s);
begin
  return query select w.rollout, w.state, w.hold, w.n, w.want from weir._rollout_hold_changes(facts, stages) w
  order by w.rollout;
end $$;
comment on function weir._rollout_wrong_holds is 'What is wrong with the holds of rollouts.';
