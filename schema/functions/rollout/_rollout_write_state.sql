-- Writes down how a rollout and its stages stand, where that is other than before.
create or replace function weir._rollout_write_state(r weir.rollouts, stages jsonb, t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  now record;
  ended int := coalesce((select l.done + l.failed + l.canceled + l.skipped from weir.job_live l where l.job = r.job),
    0);
begin
  update weir.rollout_stages s
  set state = x.state, waits = weir._sentence(x.reason), reason = x.reason, begun_at = x.begun_at
  from (
    select s.n,
      case when x.complete then 'done' when r.started_at is null or x.earlier is not null then 'not_started'
        when x.waits is not null and x.active = 0 then 'waiting'
        when x.stopped is not null then 'failed' when r.paused_at is not null then 'paused' else 'running' end as state,
      case when x.complete or r.started_at is null or x.earlier is not null then null
        else coalesce(x.waits, x.stopped) end as reason,
      coalesce(s.begun_at, case when x.begins and r.paused_at is null then t end) as begun_at
    from weir.rollout_stages s
    join jsonb_to_recordset(stages) x (n smallint, earlier text, complete boolean, begins boolean, waits jsonb,
      stopped jsonb, active int)
      on x.n = s.n
    where s.rollout = r.job
  ) x
  where s.rollout = r.job and s.n = x.n
    and (s.state, s.reason, s.begun_at) is distinct from (x.state, x.reason, x.begun_at);
  select x.* into now
  from jsonb_to_recordset(stages) x (n smallint, complete boolean, waits jsonb, stopped jsonb, left_first int,
    active int)
  where not x.complete order by x.n limit 1;
  update weir.rollouts u set state = x.state, waits = weir._sentence(x.reason), reason = x.reason, look_at = x.look_at
  from (select case when r.aborted_at is not null then 'canceled' when r.started_at is null then 'not_started'
      when now.n is null then 'done' when r.paused_at is not null then 'paused'
        when now.stopped is not null then 'failed' when now.waits is not null and now.active = 0 then 'waiting'
          else 'running' end as state,
      case when r.aborted_at is not null then weir._rollout_did('rollout_aborted', r.aborted_by, r.abort_note)
        when r.started_at is null then weir._rollout_waits_start(r.job)
        when r.paused_at is not null then
          weir._rollout_did('rollout_paused', r.paused_by, r.pause_note)
          else coalesce(now.stopped, now.waits) end as reason,
      ended + greatest(now.left_first, 1) as look_at) x
  where u.job = r.job
    and (u.state, u.reason, u.look_at) is distinct from (x.state, x.reason, coalesce(x.look_at, u.look_at));
end $$;
comment on function weir._rollout_write_state is 'The state of a rollout and of its stages.';
