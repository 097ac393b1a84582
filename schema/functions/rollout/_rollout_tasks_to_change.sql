-- The tasks of the groups that weir._rollout_hold_changes names, in the order in which their rows are locked.
-- said is the sentence of want: groups are few, tasks many.
create or replace function weir._rollout_tasks_to_change(id uuid, wants jsonb)
returns table (task uuid, state text, want jsonb, said text)
language plpgsql stable
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query select x.task, x.state, w.want
  , w.said
  from weir._rollout_fact x
    join jsonb_to_recordset(wants) w (stage smallint, canary boolean, state text, hold jsonb, fresh boolean,
      proven boolean, want jsonb, said text)
      on (w.stage, w.canary, w.state, w.fresh, w.proven) = (x.stage, x.canary, x.state, x.attempt = 0, x.proven)
        and w.hold is not distinct from x.reason
  where x.rollout = _rollout_tasks_to_change.id order by x.task;
end $$;
comment on function weir._rollout_tasks_to_change is 'The tasks whose holds should be others.';
