-- The pool half of weir._open: for each pool as many as it has room for and as its rate allows, best first. A pool that was deleted limits nothing.
create or replace function weir._open_pools(names text[], t timestamptz) returns int
language plpgsql
set search_path = weir, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  opened int := 0;
  picked uuid[];
begin
  perform pg_advisory_xact_lock(87, b) from (select distinct 32 + (hashtext(k) & 31) from unnest(names) k order by 1) x (b);
  while cardinality(names) > 0 loop
    with room as materialized (
      select k.name, p.rate, p.per, greatest(p.next_at, t - p.per) as due, least(
        p.size - (select count(*) from weir.available a where a.pool = k.name) - (select count(*) from weir.running r where r.pool = k.name),
        floor(extract(epoch from t - greatest(coalesce(p.next_at, t - p.per), t - p.per)) * p.rate / extract(epoch from p.per)),
        1000) as free
      from (select distinct unnest(names)) k (name) left join weir.pools p on p.name = k.name
    ), pick as materialized (
      select room.name, x.task from room, lateral (
        select p.task from weir.pending p where p.gate = 'pool' and p.pool = room.name
        order by p.pool, p.priority desc, p.order_seq, p.position, p.task limit greatest(room.free, 0)::int
        for update skip locked
      ) x
      where room.free > 0
    ), spend as (
      update weir.pools p set next_at = coalesce(room.due, t - room.per) + c.n * (room.per / room.rate)
      from room join (select pick.name, count(*) as n from pick group by pick.name) c on c.name = room.name
      where p.name = room.name and room.rate is not null
    )
    select array_agg(x.task), array_agg(x.name) filter (where x.nth = 1000) into picked, names
    from (select pick.*, row_number() over (partition by pick.name) as nth from pick) x;
    exit when picked is null;
    opened := opened + weir._make_available(picked, t);
  end loop;
  return opened;
end $$;
comment on function weir._open_pools is 'Opens the pool gate of these pools.';
