-- Opens lanes and pools that may have room. Limits hold because every opener of a key holds the key's lock until it
-- commits, and looks after it has the lock: counting inside one statement without the lock does not hold a limit
-- (docs/decisions/0002).
-- locked: the caller has the locks of these keys. A key whose lock is not free, and what is more than one transaction
-- should open, is left to the next pass of weir.tend (weir._lock_keys).
-- A pending row that somebody else holds is left to him: whoever changes a row at a gate opens its keys afterwards.
-- The look-ups are scalar subqueries, not joins: a join may be planned as a scan of all holders for every lane. An
-- exclusive holder has its lane alone, so one holder of each kind tells whether there is any.
-- Each turn of the loop takes the head of some lanes, and with it all that may go beside it: those of its rank up to
-- the first that is exclusive.
create or replace function weir._open(lanes text[], pools text[], t timestamptz, patient boolean default true,
  locked boolean default false)
returns int
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
  enough constant int := 2000;
  slice constant int := 1000;
  opened int := 0;
  stepped int := 0;
  todo text[];
  turn text[];
  more text[];
  free tid[];
  alone tid[];
  beside tid[];
  heads tid[];
  want text[];
  held text[] := case when locked then pools end;
begin
  -- An older snapshot would not see what the lock protects; weir.tend does this work.
  if current_setting('transaction_isolation') <> 'read committed' then
    if cardinality(lanes) > 0 then
      perform weir._defer_keys(true, lanes, t);
    end if;
    if cardinality(pools) > 0 then
      perform weir._defer_keys(false, pools, t);
    end if;
    return 0;
  end if;
  if cardinality(lanes) > 0 then
    todo := case when locked then lanes else weir._lock_keys(lanes, true, patient, t) end;
  end if;
  while cardinality(todo) > 0 loop
    turn := todo[1:slice];
    todo := todo[slice + 1:];
    with head as materialized (
      select h.* from (select distinct unnest(turn)) l (lane), lateral (
        select p.lane, p.rank, p.exclusive from weir.pending p
        where p.lane = l.lane and p.gate = 'lane'
          and (select true from weir.set_aside s where s.task = p.task and s.next_at > t) is null
        order by p.lane, p.rank, p.priority desc, p.order_seq, p.position limit 1
      ) h
      where (select h.exclusive or o.exclusive from weir.running o where o.lane = h.lane limit 1) is not true
        and (select h.exclusive or o.exclusive from weir.available o where o.lane = h.lane limit 1) is not true
        and (select h.exclusive or o.exclusive from weir.pending o
          where o.lane = h.lane and o.gate = 'pool' limit 1) is not true
        and (h.rank is null or not exists (
          select from weir.pending o where o.lane = h.lane and o.rank < h.rank
          union all select from weir.running o where o.lane = h.lane and o.rank < h.rank
          union all select from weir.available o where o.lane = h.lane and o.rank < h.rank
          union all select from weir.lane_blocks o where o.lane = h.lane and o.rank < h.rank))
    ), batch as materialized (
      select b.* from head, lateral (
        select x.* from (
          select y.row, y.lane, y.exclusive, y.pool, row_number() over w as nth, bool_or(y.exclusive) over w as stop
          from (
            (select p.ctid as row, p.lane, p.exclusive, p.pool, p.priority, p.order_seq, p.position from weir.pending p
            where p.lane = head.lane and p.rank = head.rank and p.gate = 'lane'
              and (select true from weir.set_aside s where s.task = p.task and s.next_at > t) is null
            order by p.lane, p.rank, p.priority desc, p.order_seq, p.position limit slice)
            union all
            (select p.ctid, p.lane, p.exclusive, p.pool, p.priority, p.order_seq, p.position from weir.pending p
            where head.rank is null and p.lane = head.lane and p.rank is null and p.gate = 'lane'
              and (select true from weir.set_aside s where s.task = p.task and s.next_at > t) is null
            order by p.lane, p.rank, p.priority desc, p.order_seq, p.position limit slice)
          ) y window w as (order by y.priority desc, y.order_seq, y.position rows unbounded preceding)
        ) x where x.nth = 1 or not x.stop
      ) b
    ), mine as materialized (
      select batch.*
      from batch,
        lateral (select from weir.pending p where p.ctid = batch.row and p.gate = 'lane' for update skip locked) x
    )
    select array_agg(m.row) filter (where m.pool is null),
      array_agg(m.row) filter (where m.pool is not null and m.exclusive),
      array_agg(m.row) filter (where m.pool is not null and not m.exclusive),
      array_agg(distinct m.pool) filter (where m.pool is not null),
      array_agg(distinct m.lane) filter (where not m.exclusive)
    into free, alone, beside, want, more from mine m;
    if free is not null then
      opened := opened + weir._make_available(free, t);
    end if;
    if beside is not null then
      -- The lane goes on behind it, so it steps to its pool now.
      update weir.pending p set gate = 'pool', since = t where p.ctid = any (beside);
      stepped := stepped + cardinality(beside);
    end if;
    heads := heads || alone;
    pools := pools || want;
    todo := todo || more;
    if opened + stepped >= enough and cardinality(todo) > 0 then
      perform weir._defer_keys(true, todo, t);
      exit;
    end if;
  end loop;
  -- Pools last and once: their locks come after those of the lanes.
  if cardinality(pools) > 0 then
    opened := opened + weir._open_pools(pools, heads, t, patient, enough, held);
  end if;
  return opened;
end $$;
comment on function weir._open is
  'Opens the lane and pool gates of these keys as far as they have room. Returns how many tasks became available.';
