-- What each waiting or available task of a rollout still waits for, as a hold, where that is not what it has. Null: nothing. All gates of rollouts that are people's are here.
-- A task that was retried is not kept by other failures: whoever retried it has decided. What is proven to be applied waits for nobody, for nothing is run.
create or replace function weir._rollout_want(r weir.rollouts, facts jsonb, stages jsonb) returns table (task uuid, state text, want text)
language sql stable
set search_path = weir, pg_temp
as $$
  select w.task, w.state, w.want from (
    select f.task, f.state, f.hold, case
      when f.proven then null
      when r.aborted_at is not null then format('waits for nothing: the rollout was %s', weir._note('aborted', r.aborted_by, r.abort_note))
      when r.started_at is null then weir._rollout_start_text(r.job)
      when s.earlier is not null then format('waits for stage %s, which comes first', s.earlier)
      when s.waits is not null then s.waits
      when s.canary_left > 0 and not f.canary then coalesce(s.stopped, format('waits for canary %s', s.canary))
      when s.stopped is not null and f.attempt = 0 then s.stopped
      when r.paused_at is not null then format('waits to be resumed: %s', weir._note('paused', r.paused_by, r.pause_note))
    end as want
    from jsonb_to_recordset(_rollout_want.facts) f (task uuid, stage smallint, canary boolean, state text, hold text, attempt int, proven boolean)
      join jsonb_to_recordset(_rollout_want.stages) s (n smallint, earlier text, waits text, canary_left int, canary text, stopped text) on s.n = f.stage
    where f.state in ('waiting', 'available')
  ) w where w.hold is distinct from w.want
$$;
comment on function weir._rollout_want is 'The holds of a rollout that should be others.';
