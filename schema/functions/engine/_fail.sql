-- Ends one attempt that failed, whose running row was just removed: another attempt after a delay, or the task's end.
-- reason: what the attempt failed by, if that is known: see weir.fail_many. Returns true when the task ended.
create or replace function weir._fail(r weir.running, error text, final boolean, retry_at timestamptz, t timestamptz,
  reason text default null) returns boolean
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = on
as $$
#variable_conflict use_column
declare
  q record;
  spent int;
begin
  if r.cancel_at is not null then
    perform weir._left_pool(r.pool);
    perform weir._close(array[weir._finished_lease(r, 'canceled', r.cancel_note, t)]);
    return true;
  end if;
  select coalesce(x.max_attempts, 3) as max_attempts, x.backoff, x.backoff_cap,
    coalesce(g.crashes + g.returns, 0) as forgiven
  into q
  from weir.tasks x left join weir.forgiven g on g.task = x.id where x.id = r.task;
  spent := r.attempt - q.forgiven;
  if final or spent >= q.max_attempts then
    perform weir._left_pool(r.pool);
    perform weir._close(array[weir._finished_lease(r, 'failed', error, t)],
      reason => _fail.reason);
    return true;
  end if;
  perform weir._requeue(r, coalesce(_fail.retry_at, t + weir._backoff(spent, q.backoff, q.backoff_cap)), 'retrying',
    error, t, reason => _fail.reason);
  return false;
end $$;
comment on function weir._fail is 'One failed attempt: retry with back-off, or failed.';
