-- What became of an UNKNOWN run is known. applied: the next attempt finds the history row and ends DONE without running
-- anything. not_applied, partial: the task is FAILED, and a retry is safe. Higher versions stay blocked until it is
-- DONE, or somebody skips it or has given its rollout up.
create or replace function weir._rollout_resolved(r weir.rollouts, task uuid, verdict text, note text, by text,
  at timestamptz)
returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(_rollout_resolved.at);
  g weir.rollout_runs;
begin
  perform from weir.job_live l where l.job = r.job for update;
  update weir.rollout_runs x
  set unknown = false, code = _rollout_resolved.verdict, note = concat_ws('; ', x.note, _rollout_resolved.note),
    resolved_by = _rollout_resolved.by, resolved_at = t, look_at = null
  where x.task = _rollout_resolved.task and x.unknown returning x.* into g;
  insert into weir.events (at, type, attempt, job, task, source, message, data)
  values (t, 'resolved', g.attempt, r.job, g.task, _rollout_resolved.by, _rollout_resolved.note,
    jsonb_build_object('verdict', _rollout_resolved.verdict));
  if _rollout_resolved.verdict = 'applied' then
    perform weir._rollout_retry_task(r, g.task, _rollout_resolved.by, _rollout_resolved.at);
  else
    perform weir._rollout_settle_and_open(r.job, t);
  end if;
end $$;
comment on function weir._rollout_resolved is 'Writes down what became of an unknown run.';
