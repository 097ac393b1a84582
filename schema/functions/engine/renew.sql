-- Prolongs leases; also the worker's heartbeat. Returns what the worker must know: a task whose lease is lost (stop at
-- once), and a task that somebody asked to cancel (stop, then weir.confirm_cancel). An empty answer means carry on.
create or replace function weir.renew(worker text, tasks uuid[], attempts int[], tokens uuid[],
  lease interval default '30 s', at timestamptz default null)
returns table (task uuid, refusal text, attempt int)
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_nestloop = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(renew.at);
  got uuid[];
  got_attempts int[];
  asked uuid[];
  asked_attempts int[];
begin
  perform weir._check(weir._bad_span('lease', lease));
  update weir.workers w set seen_at = t, stopped_at = null where w.name = renew.worker;
  with u as (
    update weir.running r set until = greatest(r.until, t + lease)
    from (select * from unnest(renew.tasks, attempts, tokens) g (task, attempt, token) order by g.task) g
    where r.task = any (renew.tasks) and r.task = g.task and r.attempt = g.attempt and r.token = g.token
    returning r.task, r.attempt, r.cancel_at
  )
  select array_agg(u.task), array_agg(u.attempt), array_agg(u.task) filter (where u.cancel_at is not null),
    array_agg(u.attempt) filter (where u.cancel_at is not null)
  into got, got_attempts, asked, asked_attempts from u;
  return query select a.task, 'cancel', a.attempt from unnest(asked, asked_attempts) a (task, attempt);
  if coalesce(cardinality(got), 0) < cardinality(renew.tasks) then
    return query select * from weir._refuse('renew', renew.tasks, attempts, tokens, got, got_attempts, t);
  end if;
end $$;
comment on function weir.renew is 'Prolongs leases and returns those that are lost or asked to cancel.';
