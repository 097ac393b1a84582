-- Raises the floor of each class to its lowest order_seq that is live or may still appear, so that a claim does not walk over dead rows when an
-- old snapshot keeps them. Numbers up to horizon.order_seq were taken by transactions older than horizon.xid; when none of those runs any more,
-- no such number can still appear. Tasks that come later with an old number use the other class (-id), which has no floor.
create or replace function weir._raise_floors(t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  h weir.horizon;
  taken bigint;
begin
  if not pg_try_advisory_xact_lock(86, 1) then
    return;
  end if;
  select * into h from weir.horizon;
  select s.last_value into taken from weir.order_seq s;
  if h.xid >= pg_snapshot_xmin(pg_current_snapshot())::text::bigint then
    return;
  end if;
  update weir.classes c set floor = least(x.floor, h.order_seq + 1)
  from (
    select c.id, coalesce((select a.order_seq from weir.available a where a.class = c.id and a.order_seq >= c.floor order by a.order_seq limit 1), h.order_seq + 1) as floor
    from weir.classes c
  ) x
  where c.id = x.id and least(x.floor, h.order_seq + 1) >= c.floor + 1000;
  update weir.horizon set xid = pg_snapshot_xmax(pg_current_snapshot())::text::bigint, order_seq = taken
  where order_seq < taken;
end $$;
comment on function weir._raise_floors is 'Moves the floors of the classes up. Writes only what moved.';
