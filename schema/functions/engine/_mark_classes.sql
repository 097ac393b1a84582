-- Adds what came under -class to the classes themselves: a claim reads what came since the mark, and should not read
-- much. The caller has the lock of weir._raise_floors.
-- One statement, so that mark, floor and moves are of one snapshot. Transactions below its xmin have ended, and it sees
-- what they brought; what others brought says so in weir.class_moves, with an id of its own (docs/decisions/0019).
create or replace function weir._mark_classes(ids int[]) returns void
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  with s as materialized (
    select pg_snapshot_xmin(x)::text::bigint as xmin, pg_snapshot_xmax(x)::text::bigint as xmax
    from pg_current_snapshot() x
  ), d as (
    -- A mark that is ahead is of another cluster, and says nothing here.
    delete from weir.class_moves m using s, weir.classes c
    where c.id = any (ids) and m.class = c.id
      and m.xid >= case when c.opened_mark > s.xmax then 0 else c.opened_mark end
    returning m.class, m.low
  ), f as (
    select c.id, least(c.opened_floor, (select min(d.low) from d where d.class = c.id)) as first from weir.classes c
    where c.id = any (ids)
  )
  update weir.classes c set opened_mark = s.xmin,
    opened_floor = coalesce((select a.order_seq from weir.available a where a.class = -c.id and a.order_seq >= f.first
        order by a.order_seq limit 1), 9223372036854775807)
  from f, s where c.id = f.id;
  -- What this transaction has said is among what was added.
  perform set_config('weir.came', '', true);
end $$;
comment on function weir._mark_classes is 'Marks classes anew.';
