-- Ends attempts that failed. final: do not try again. retry_at: when to try again, instead of the back-off.
-- reasons: what they failed by, where that is known: timeout, start_timeout, heartbeat_timeout, or refused, because
-- what was asked cannot be done. hint as in weir.finish_many. Returns a row for every one that was not
-- accepted, as weir.finish_many does.
create or replace function weir.fail_many(tasks uuid[], attempts int[], tokens uuid[], errors text[],
  final boolean[] default null, retry_at timestamptz[] default null, hint boolean default true,
  reasons text[] default null, at timestamptz default null)
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
  t timestamptz := weir._clock(fail_many.at);
  x record;
  got uuid[] := '{}';
  got_attempts int[] := '{}';
  ended uuid[] := '{}';
  again uuid[] := '{}';
  step record;
  lanes text[] := '{}';
  pools text[] := '{}';
begin
  perform weir._check(variadic array(select weir._bad_time('retry_at', r) from unnest(fail_many.retry_at) r));
  if reasons is not null then
    perform weir._check(variadic array(
      select weir._fault('reason', '%L is none of timeout, start_timeout, heartbeat_timeout, refused', r)
      from unnest(reasons) r where r not in ('timeout', 'start_timeout', 'heartbeat_timeout', 'refused')));
  end if;
  for x in
    with d as (
      delete from weir.running r using (
        select * from unnest(fail_many.tasks, attempts, tokens, errors, final, retry_at, reasons)
          g (task, attempt, token, error, final, retry_at, reason) order by g.task
      ) g
      where r.task = any (fail_many.tasks) and r.task = g.task and r.attempt = g.attempt and r.token = g.token
      returning r as row, g.error, g.final, g.retry_at, g.reason
    ) select * from d order by (d.row).task
  loop
    got := got || (x.row).task;
    got_attempts := got_attempts || (x.row).attempt::int;
    lanes := lanes || (x.row).lane;
    pools := pools || (x.row).pool;
    if weir._fail(x.row, weir._text(x.error), coalesce(x.final, false), x.retry_at, t, x.reason) then
      ended := ended || (x.row).task;
    elsif x.retry_at <= t then
      again := again || (x.row).task;
    end if;
  end loop;
  select * into step from weir._advance(again, t);
  if hint and step.opened > 0 then
    perform pg_notify('weir_available', '');
  end if;
  perform weir._after_end(ended, array_remove(lanes || step.lanes, null), array_remove(pools || step.pools, null), t,
    hint);
  if cardinality(got) < cardinality(fail_many.tasks) then
    return query select * from weir._refuse('fail', fail_many.tasks, attempts, tokens, got, got_attempts, t);
  end if;
end $$;
comment on function weir.fail_many is
  'Ends leased attempts as failed: retried with back-off while attempts are left. Returns only those that were '
  'refused.';
