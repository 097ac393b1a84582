-- Writes terminal rows that were decided one by one: their outcome, their event, and what hangs on it (unique keys,
-- lanes that a failure blocks).
-- source: who decided, if somebody did. reason: what they failed by, if that is known. The caller has removed the task
-- from where it was and calls weir._after_end next.
create or replace function weir._close(ended weir.finished[], source text default null, reason text default null)
returns void
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = on
as $$
#variable_conflict use_column
begin
  insert into weir.finished select f.* from unnest(ended) f;
  insert into weir.events (at, type, worker, attempt, job, task, source, level, message, data)
  select f.at, f.outcome, f.worker, f.attempt, q.job, f.task, _close.source,
    case when f.outcome = 'failed' then 'error' end, f.cause,
    case when _close.reason is not null then jsonb_build_object('reason', _close.reason) end
  from unnest(ended) f, lateral (select q.job from weir.tasks q where q.id = f.task offset 0) q;
  delete from weir.unique_keys u using unnest(ended) f where u.task = f.task;
  insert into weir.lane_blocks (lane, rank, task, at)
  select q.lane, q.rank, f.task, f.at
  from unnest(ended) f, lateral (select q.lane, q.rank from weir.tasks q where q.id = f.task offset 0) q
  where f.outcome = 'failed' and q.rank is not null;
end $$;
comment on function weir._close is 'Terminal rows, their events and their keys.';
