-- The pool half of weir._open: for each pool as many as it has room for and as its rate allows, best first. A pool that
-- was deleted limits nothing.
-- A rate counts starts, and what was opened may start at any moment: so what is open and what was started within the
-- interval are together never more than the rate (docs/decisions/0002). An older t counts more starts, never fewer.
-- heads are rows that have just passed their lane; those that find no room, or whose pool is locked by somebody else,
-- come to stand at the pool and hold their lane there. held are pools whose lock the caller has. What is more than
-- enough for one transaction is left to the next pass of weir.tend.
create or replace function weir._open_pools(names text[], heads tid[], t timestamptz, patient boolean default true,
  enough int default 2000, held text[] default null)
returns int
language plpgsql
set search_path = weir, pg_temp
set enable_nestloop = on
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  opened int := 0;
  full_turn constant int := 1000;
  picked tid[];
  rated text[];
  gone text[];
  crowded text[];
  newest bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
begin
  names := held
    || weir._lock_keys(array(select n from unnest(names) n where held is null or n <> all (held)), false, patient, t);
  loop
    with room as materialized (
      -- Who holds it and where its line begins, as of the mark and since (weir._mark_pools).
      select k.name, p.rate, p.name is null as gone, p.held is null and p.name is not null or m.n > 200
        or m.came > 500 as crowded,
        case when p.held is null then array[-40000, 0]
          else least(case when p.head is not null then array[-(p.head_priority::int), p.head] end,
            m.first) end as first,
        least(
        p.size - coalesce(p.held + m.held,
          (select count(*) from weir.available a where a.pool = k.name)
            + (select count(*) from weir.running r where r.pool = k.name)),
        p.rate - (select count(*) from weir.available a where a.pool = k.name and p.rate is not null)
          - (select coalesce(sum(s.n), 0) from weir.starts s where s.pool = k.name and s.at > t - p.per),
        full_turn)::int as free
      from (select distinct unnest(names)) k (name) left join weir.pools p on p.name = k.name, lateral (
        select coalesce(sum(m.held), 0) as held, sum(m.held) filter (where m.held > 0) as came,
          min(array[-(m.priority::int), m.low]) filter (where m.low is not null) as first, count(*) as n
        from weir.pool_moves m where m.pool = k.name and m.xid >= case when p.mark > newest then 0 else p.mark end
      ) m
    ), waiting as materialized (
      select room.name, x.* from room, lateral (
        select p.ctid as row, p.priority, p.order_seq, p.position from weir.pending p
        where p.gate = 'pool' and p.pool = room.name
          and (-(p.priority::int), p.order_seq) >= (room.first[1]::int, room.first[2])
          and (select true from weir.set_aside s where s.task = p.task and s.next_at > t) is null
        order by p.pool, -(p.priority::int), p.order_seq, p.position limit room.free
        for update skip locked
      ) x
      where room.free > 0 and room.first is not null
    ), pick as materialized (
      -- Each pool's room stands first in its window, so that no join has to bring it to the candidates.
      select x.name, x.row, x.nth from (
        select c.name, c.row, max(c.free) over (partition by c.name) as free,
          row_number() over (
            partition by c.name order by c.priority desc nulls first, c.order_seq, c.position) - 1 as nth
        from (
          select room.name, null::tid as row, null::smallint as priority, null::bigint as order_seq,
            null::int as position, room.free
          from room
          union all
          select w.name, w.row, w.priority, w.order_seq, w.position, null from waiting w
          union all
          select p.pool, p.ctid, p.priority, p.order_seq, p.position, null from weir.pending p
          where p.ctid = any (heads)
        ) c
      ) x
      where x.row is not null and x.nth <= x.free
    ), stay as (
      update weir.pending p set gate = 'pool', since = t
      where p.ctid = any (array(select h.row from unnest(heads) h (row) except select pick.row from pick))
    )
    select array_agg(pick.row), array_agg(pick.name) filter (where pick.nth = full_turn),
      (select array_agg(room.name) from room where room.rate is not null),
      crowded || (select array_agg(room.name) from room where room.crowded),
      gone || (select array_agg(room.name) from room where room.gone)
    into picked, names, rated, crowded, gone from pick;
    if picked is not null then
      opened := opened + weir._make_available(picked, t);
      if rated is not null then
        perform weir._tidy_starts(rated, t);
      end if;
    end if;
    exit when names is null;
    heads := null;
    if opened >= enough then
      perform weir._defer_keys(false, names, t);
      exit;
    end if;
  end loop;
  if crowded is not null then
    perform weir._mark_pools(crowded);
  end if;
  if gone is not null then
    delete from weir.pool_moves m where m.pool = any (gone);
  end if;
  return opened;
end $$;
comment on function weir._open_pools is 'Opens the pool gate of these pools.';
