-- Puts a task whose running row was just removed straight back to available: it keeps its lane and its place in the
-- pool. Where the pool has a rate, another start would be one more than was counted, so the task waits at the pool for
-- its turn, and keeps its lane there. counts as in weir._requeue. fault: what is broken on the node, if that is why.
create or replace function weir._give_up_lease(r weir.running, event text, message text, t timestamptz,
  counts boolean default true, fault text default null)
returns void
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = on
as $$
#variable_conflict use_column
declare
  waits boolean := r.pool is not null
    and exists (select from weir.pools p where p.name = r.pool and p.rate is not null);
begin
  if waits then
    perform weir._left_pool(r.pool);
    insert into weir.pending (task, order_seq, class, position, priority, attempt, gate, since, lane, rank, exclusive,
      pool, job)
    select q.id, q.order_seq, q.class, q.position, c.priority, case when counts then r.attempt else r.attempt - 1 end,
      'pool', t, r.lane, r.rank, r.exclusive, r.pool, r.job
    from weir.tasks q join weir.classes c on c.id = q.class where q.id = r.task;
  else
    insert into weir.available (order_seq, task, class, position, attempt, opened_at, lane, pool, rank, exclusive)
    select q.order_seq, q.id, -q.class, q.position, case when counts then r.attempt else r.attempt - 1 end, t, r.lane,
      r.pool, r.rank, r.exclusive
    from weir.tasks q where q.id = r.task;
  end if;
  insert into weir.events (at, type, worker, attempt, job, task, level, message, data)
  values (t, event, r.worker, r.attempt, r.job, r.task,
    case when event = 'expired' or fault is not null then 'warn' end, message,
    jsonb_build_object('claimed_at', r.claimed_at, 'opened_at', r.opened_at)
      || case when fault is null then '{}' else jsonb_build_object('reason', 'node', 'fault', fault) end);
  if waits then
    insert into weir.events (at, type, attempt, job, task, message)
    values (t, 'held', r.attempt, r.job, r.task, format('pool %s counts starts: it waits for its turn', r.pool));
  end if;
end $$;
comment on function weir._give_up_lease is
  'running → available: expired or returned; on to pending where its pool has a rate.';
