-- What each group of waiting or available tasks still waits for, as a reason, where that is not the reason of
-- its hold. Null: nothing. All gates of rollouts that are people's are here.
-- A task that was retried is not kept by other failures: whoever retried it has decided. What is proven to be applied
-- waits for nobody, for nothing is run.
create or replace function weir._rollout_hold_changes(facts jsonb, stages jsonb)
returns table (rollout uuid, stage smallint, canary boolean, state text, hold jsonb, fresh boolean, proven boolean,
  n int, want jsonb)
language plpgsql stable
set search_path = weir, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query select w.rollout, w.stage, w.canary, w.state, w.hold, w.fresh, w.proven, w.n, w.want from (
    select f.*, case
      when f.proven then null
      when r.aborted_at is not null then
        weir._rollout_did('rollout_over', r.aborted_by, r.abort_note)
      when r.started_at is null then weir._rollout_waits_start(r.job)
      when s.earlier is not null then jsonb_build_object('code', 'rollout_stage_first', 'stage', s.earlier)
      when s.waits is not null then s.waits
      when s.canary_left > 0 and not f.canary then coalesce(s.stopped, s.canary)
      when s.stopped is not null and f.fresh then s.stopped
      when r.paused_at is not null then
        weir._rollout_did('rollout_paused', r.paused_by, r.pause_note)
    end as want
    from jsonb_to_recordset(facts) f (rollout uuid, stage smallint, canary boolean, state text, hold jsonb,
      fresh boolean, proven boolean, n int)
      join jsonb_to_recordset(stages) s (rollout uuid, n smallint, earlier text, waits jsonb, canary_left int,
        canary jsonb, stopped jsonb)
        on s.rollout = f.rollout
        and s.n = f.stage
      join weir.rollouts r on r.job = f.rollout
    where f.state in ('waiting', 'available')
  ) w where w.hold is distinct from w.want;
end $$;
comment on function weir._rollout_hold_changes is 'The holds of rollouts that should be others.';
