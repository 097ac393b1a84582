-- A stretch of the timeline of so many rows, by minute: what happened to tasks, and how long a sample of them waited
-- and ran. Large batches are sampled first, so that a task counts the same wherever it is; at most sixty tasks are
-- looked up. The task is where it was if its row has the time of the event.
create or replace function weir._count_events(from_xid bigint, from_seq bigint, to_xid bigint, to_seq bigint,
  rows bigint)
returns table (at timestamptz, submitted bigint, started bigint, done bigint, failed bigint, canceled bigint,
  expired bigint, refused bigint, waits real[], runs real[])
language sql volatile
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
as $$
  with e as materialized (
    select date_trunc('minute', e.at, 'UTC') as minute, e.at, e.type, coalesce(e.tasks, array[e.task]) as tasks,
      coalesce(cardinality(e.tasks), 1) as n, random() as lot
    from (select * from weir.events e where (e.xid, e.seq) > (from_xid, from_seq) and e.xid <= to_xid
      order by e.xid, e.seq limit rows) e
    where (e.xid, e.seq) <= (to_xid, to_seq) and e.kind is null
      and e.type in ('submitted', 'gated', 'claimed', 'done', 'failed', 'canceled', 'expired', 'stale')
  ), wait as (
    select s.minute, array_agg(extract(epoch from s.at - coalesce(x.opened_at, weir._id_time(s.task)))::real) as seconds
    from (select e.minute, e.at, u.task
      from (select * from e where e.type = 'claimed' order by -ln(1 - e.lot) / e.n limit 20) e,
        lateral (select u.task from unnest(e.tasks) u (task) order by random() limit 3) u) s,
      lateral (
        select r.opened_at from weir.running r where r.task = s.task and r.claimed_at = s.at
        union all select f.opened_at from weir.finished f where f.task = s.task and f.started_at = s.at
      ) x
    group by s.minute
  ), run as (
    select s.minute, array_agg(extract(epoch from x.at - x.started_at)::real) as seconds
    from (select e.minute, e.at, u.task
      from (select * from e where e.type in ('done', 'failed') order by -ln(1 - e.lot) / e.n limit 20) e,
        lateral (select u.task from unnest(e.tasks) u (task) order by random() limit 3) u) s,
      lateral (select f.at, f.started_at from weir.finished f
        where f.task = s.task and f.at = s.at and f.started_at is not null) x
    group by s.minute
  )
  select e.minute, coalesce(sum(e.n) filter (where e.type in ('submitted', 'gated')), 0)::bigint,
    coalesce(sum(e.n) filter (where e.type = 'claimed'), 0)::bigint,
    coalesce(sum(e.n) filter (where e.type = 'done'), 0)::bigint,
    coalesce(sum(e.n) filter (where e.type = 'failed'), 0)::bigint,
    coalesce(sum(e.n) filter (where e.type = 'canceled'), 0)::bigint,
    coalesce(sum(e.n) filter (where e.type = 'expired'), 0)::bigint,
    coalesce(sum(e.n) filter (where e.type = 'stale'), 0)::bigint,
    coalesce((select w.seconds from wait w where w.minute = e.minute), '{}'),
    coalesce((select r.seconds from run r where r.minute = e.minute), '{}')
  from e group by e.minute
$$;
comment on function weir._count_events is 'What happened between two places of the timeline, by minute.';
