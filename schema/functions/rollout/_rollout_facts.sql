-- The tasks of rollouts as their gates see them, in groups that are held and released together: by stage, canary,
-- state, hold, whether they are fresh (no run is over) and proven. However many tasks wait, the groups are few. bad
-- names the tasks of a group that ended badly, task the first of them.
create or replace function weir._rollout_facts(ids uuid[]) returns jsonb
language plpgsql stable
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_incremental_sort = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return (select coalesce(jsonb_agg(g), '[]') from (
    select x.rollout, x.stage, x.canary, x.state, x.outcome, x.reason as hold, x.attempt = 0 as fresh, x.proven,
      count(*)::int as n, min(x.task::text) filter (where x.state = 'bad') as task,
      min(x.database) as database, array_agg(x.task) filter (where x.state = 'bad') as bad
    from weir._rollout_fact x where x.rollout = any (ids) group by 1, 2, 3, 4, 5, 6, 7, 8
  ) g);
end $$;
comment on function weir._rollout_facts is 'The tasks of rollouts as their gates see them, in groups.';
