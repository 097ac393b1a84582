-- Adds up what happened, minute by minute, from where the last call ended. It reads the timeline in the order that
-- never changes afterwards (see weir.events_after) and moves its mark in the same transaction, so every event counts
-- once, whoever calls and however often. Times are those of a sample: a few tasks of each of a few batches. Bounded:
-- more says that another call has work to do. Writes nothing when nothing happened.
create or replace function weir.tally(n int default 5000, at timestamptz default null, out counted int,
  out more boolean)
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
set enable_sort = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(tally.at);
  was weir.tallied;
  last record;
begin
  counted := 0; more := false;
  delete from weir.minutes m where m.at < t - interval '8 days';
  select * into was from weir.tallied;
  select x.xid, x.seq, count(*) over () as rows into last from (
    select e.xid, e.seq from weir.events e
    where (e.xid, e.seq) > (was.xid, was.seq) and e.xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
    order by e.xid, e.seq limit n
  ) x order by x.xid desc, x.seq desc limit 1;
  if not found then
    return;
  end if;
  update weir.tallied x set xid = last.xid, seq = last.seq where (x.xid, x.seq) = (was.xid, was.seq);
  if not found then
    return; -- somebody else has just done it
  end if;
  insert into weir.minutes as m (at, submitted, started, done, failed, canceled, expired, refused, waits, runs,
    wait_p50, wait_p95, run_p50, run_p95)
  select x.*, weir._percentile(x.waits, 0.5), weir._percentile(x.waits, 0.95), weir._percentile(x.runs, 0.5),
    weir._percentile(x.runs, 0.95)
  from weir._count_events(was.xid, was.seq, last.xid, last.seq, last.rows) x
  on conflict (at) do update set submitted = m.submitted + excluded.submitted, started = m.started + excluded.started,
    done = m.done + excluded.done, failed = m.failed + excluded.failed, canceled = m.canceled + excluded.canceled,
    expired = m.expired + excluded.expired, refused = m.refused + excluded.refused,
    waits = (m.waits || excluded.waits)[:1000], wait_p50 = weir._percentile((m.waits || excluded.waits)[:1000], 0.5),
    wait_p95 = weir._percentile((m.waits || excluded.waits)[:1000], 0.95),
    runs = (m.runs || excluded.runs)[:1000], run_p50 = weir._percentile((m.runs || excluded.runs)[:1000], 0.5),
    run_p95 = weir._percentile((m.runs || excluded.runs)[:1000], 0.95);
  counted := last.rows;
  more := counted = n;
end $$;
comment on function weir.tally is
  'Adds the timeline up into weir.minutes: how many events were counted, and whether there are more.';
