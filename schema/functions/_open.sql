-- Opens lanes and pools that may have room. Limits hold because every opener of a key holds the key's lock until it commits, and looks
-- after it has the lock: counting inside one statement without the lock does not hold a limit (docs/decisions/0002).
-- The locks are 32 buckets for lanes, then 32 for pools, always taken upwards: no ring of waiters, and no more locks than Postgres has room for.
-- A pending row that somebody else holds is left to him: whoever changes a row at a gate opens its keys afterwards.
-- The look-ups are scalar subqueries, not joins: a join may be planned as a scan of all holders for every lane.
-- Each turn of the loop opens the head of every lane; a lane goes on while its heads are not exclusive.
create or replace function weir._open(lanes text[], pools text[], t timestamptz) returns int
language plpgsql
set search_path = weir, pg_temp
set enable_nestloop = on
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  opened int := 0;
  more text[] := lanes;
  free tid[];
  alone tid[];
  beside tid[];
  heads tid[];
  want text[];
begin
  -- An older snapshot would not see what the lock protects; the sweep does this work.
  if current_setting('transaction_isolation') <> 'read committed' then
    return 0;
  end if;
  if cardinality(lanes) > 0 then
    perform pg_advisory_xact_lock(87, b) from (select distinct hashtext(k) & 31 from unnest(lanes) k order by 1) x (b);
  end if;
  loop
    with head as materialized (
      select h.* from (select distinct unnest(more)) l (lane), lateral (
        select p.ctid as row, p.lane, p.rank, p.exclusive, p.pool from weir.pending p
        where p.lane = l.lane and p.gate = 'lane'
        order by p.lane, p.rank, p.priority desc, p.order_seq, p.position limit 1
      ) h
      where (select true from weir.running o where o.lane = h.lane and (h.exclusive or o.exclusive) limit 1) is null
        and (select true from weir.available o where o.lane = h.lane and (h.exclusive or (select q.exclusive from weir.tasks q where q.id = o.task)) limit 1) is null
        and (select true from weir.pending o where o.lane = h.lane and o.gate = 'pool' and (h.exclusive or o.exclusive) limit 1) is null
        and (h.rank is null or not exists (
          select from weir.pending o where o.lane = h.lane and o.rank < h.rank
          union all select from weir._lane_holder o where o.lane = h.lane and o.rank < h.rank
          union all select from weir.lane_blocks o where o.lane = h.lane and o.rank < h.rank))
    ), mine as materialized (
      select head.* from head, lateral (select from weir.pending p where p.ctid = head.row and p.gate = 'lane' for update skip locked) x
    )
    select array_agg(m.row) filter (where m.pool is null), array_agg(m.row) filter (where m.pool is not null and m.exclusive),
      array_agg(m.row) filter (where m.pool is not null and not m.exclusive), array_agg(distinct m.pool) filter (where m.pool is not null),
      array_agg(m.lane) filter (where not m.exclusive)
    into free, alone, beside, want, more from mine m;
    if free is not null then
      opened := opened + weir._make_available(free, t);
    end if;
    if beside is not null then
      -- The lane goes on behind it, so it steps to its pool now.
      update weir.pending p set gate = 'pool', since = t where p.ctid = any (beside);
    end if;
    heads := heads || alone;
    pools := pools || want;
    exit when more is null;
  end loop;
  -- Pools last and once: their locks come after those of the lanes.
  if cardinality(pools) > 0 then
    opened := opened + weir._open_pools(pools, heads, t);
  end if;
  return opened;
end $$;
comment on function weir._open is 'Opens the lane and pool gates of these keys as far as they have room. Returns how many tasks became available.';
