-- Puts a task whose running row was just removed back behind its gates, first of all the time gate. counts: the attempt
-- is over; else the next lease has its number.
-- reason: what the attempt failed by, if that is known.
create or replace function weir._requeue(r weir.running, run_at timestamptz, event text, message text, t timestamptz,
  counts boolean default true, reason text default null) returns void
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = on
as $$
#variable_conflict use_column
begin
  perform weir._left_pool(r.pool);
  insert into weir.pending (task, order_seq, class, position, priority, attempt, gate, since, run_at, lane, rank,
    exclusive, pool, job)
  select q.id, q.order_seq, q.class, q.position, c.priority, case when counts then r.attempt else r.attempt - 1 end,
    'time', t, _requeue.run_at, r.lane, r.rank, r.exclusive, r.pool, r.job
  from weir.tasks q join weir.classes c on c.id = q.class where q.id = r.task;
  insert into weir.events (at, type, worker, attempt, job, task, level, message, data)
  values (t, event, r.worker, r.attempt, r.job, r.task, case event when 'retrying' then 'warn' end, message,
    jsonb_build_object('claimed_at', r.claimed_at, 'opened_at', r.opened_at, 'run_at', _requeue.run_at)
      || case when _requeue.reason is null then '{}' else jsonb_build_object('reason', _requeue.reason) end);
end $$;
comment on function weir._requeue is 'running → pending: retrying or snoozed.';
