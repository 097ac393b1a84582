-- Adds what came to pools and left them to the pools themselves, as weir._mark_classes does for classes. The caller
-- holds their locks. A pool that was not counted yet is counted now, unless transactions run that are older than its
-- mark: they may act by functions that say nothing of what they move.
create or replace function weir._mark_pools(names text[]) returns void
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
begin
  with s as materialized (
    select pg_snapshot_xmin(x)::text::bigint as xmin, pg_snapshot_xmax(x)::text::bigint as xmax
    from pg_current_snapshot() x
  ), k as materialized (
    select p.name, p.held, case when p.held is null or p.mark > s.xmax then 0 else p.mark end as mark,
      case when p.held is null then array[-40000, 0]
        when p.head is not null then array[-(p.head_priority::int), p.head] end as head, s.xmin
    from weir.pools p, s where p.name = any (names) and (p.held is not null or p.mark < s.xmin or p.mark > s.xmax)
  ), d as (
    delete from weir.pool_moves m using k where m.pool = k.name and m.xid >= k.mark
    returning m.pool, m.held, m.priority, m.low
  ), f as (
    select k.*, (select coalesce(sum(d.held), 0) from d where d.pool = k.name)::int as moved,
      least(k.head,
        (select min(array[-(d.priority::int), d.low]) from d where d.pool = k.name and d.low is not null)) as first
      from k
  )
  update weir.pools p set mark = f.xmin, head_priority = x.priority, head = x.order_seq,
    held = case when f.held is not null then f.held + f.moved
      else (select count(*) from weir.available a where a.pool = p.name)::int
        + (select count(*) from weir.running r where r.pool = p.name)::int end
  from f left join lateral (
    select w.priority, w.order_seq from weir.pending w
    where w.gate = 'pool' and w.pool = f.name and (-(w.priority::int), w.order_seq) >= (f.first[1]::int, f.first[2])
    order by w.pool, -(w.priority::int), w.order_seq, w.position limit 1
  ) x on true
  where p.name = f.name;
  perform set_config('weir.waits', '', true);
end $$;
comment on function weir._mark_pools is 'Counts pools and marks them anew.';
