-- Puts a task whose running row was just removed straight back to available: it keeps its lane and its place in the pool.
create or replace function weir._give_up_lease(r weir.running, event text, message text, t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = on
as $$
#variable_conflict use_column
begin
  insert into weir.available (order_seq, task, class, position, attempt, opened_at, lane, pool)
  select q.order_seq, q.id, -q.class, q.position, r.attempt, t, r.lane, r.pool from weir.tasks q where q.id = r.task;
  insert into weir.events (at, type, worker, attempt, job, task, level, message, data)
  values (t, event, r.worker, r.attempt, r.job, r.task, case event when 'expired' then 'warn' end, message,
    jsonb_build_object('claimed_at', r.claimed_at, 'opened_at', r.opened_at));
end $$;
comment on function weir._give_up_lease is 'running → available: expired or returned.';
