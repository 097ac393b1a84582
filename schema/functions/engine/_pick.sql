-- Locks the rows that a claim takes when several classes have something. keys are those classes, with where each
-- begins, its priority and which service it is of; free is what is free of each service. A look without locks says
-- which rows come next in the global order, then these are locked, those that others hold left out. Where that leaves
-- some wanted, it goes on behind the last ones. So every row that is locked is taken. With one service each look goes
-- further than the one before, because many others may hold a row each; with several, the next rows depend on what was
-- free of each.
create or replace function weir._pick(keys int[], firsts bigint[], priorities smallint[], of int[], free int[], n int)
returns tid[]
language plpgsql
set search_path = weir, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  picked tid[] := '{}';
  next tid[];
  at int[];
  seqs bigint[];
  positions smallint[];
  behind smallint[] := array_fill((-1)::smallint, array[cardinality(keys)]);
  got record;
  grow int := 1;
begin
  if cardinality(free) = 1 then
    n := least(n, free[1]);
  end if;
  loop
    select array_agg(y.row), array_agg(y.i), array_agg(y.order_seq), array_agg(y.position)
    into next, at, seqs, positions from (
      select x.* from (
        select k.i, k.priority, a.row, a.order_seq, a.position, free[k.service] as free,
          row_number() over (partition by k.service order by k.priority desc, a.order_seq, a.position) as nth
        from unnest(keys, firsts, behind, priorities, of) with ordinality k (class, first, behind, priority, service,
          i), lateral (
          select a.ctid as row, a.order_seq, a.position from weir.available a
          where a.class = k.class and (a.order_seq, a.position) > (k.first, k.behind)
          order by a.order_seq, a.position limit least(free[k.service], n)::bigint * grow
        ) a
      ) x
      where x.nth <= x.free::bigint * grow
      order by x.priority desc, x.order_seq, x.position limit n::bigint * grow
    ) y;
    exit when next is null;
    for got in
      select l.row, c.i
      from unnest(next, at) c (row, i),
        lateral (select a.ctid as row from weir.available a where a.ctid = c.row for update skip locked) l limit n
    loop
      picked := picked || got.row;
      n := n - 1;
      free[of[got.i]] := free[of[got.i]] - 1;
    end loop;
    exit when n = 0;
    for i in 1..cardinality(next) loop
      firsts[at[i]] := seqs[i];
      behind[at[i]] := positions[i];
    end loop;
    if cardinality(free) = 1 then
      grow := least(grow * 2, 1024);
    end if;
  end loop;
  return picked;
end $$;
comment on function weir._pick is 'Locks the rows of a claim from several classes.';
