-- Raises the floor of each class to its lowest order_seq that is live or may still appear, so that a claim does not
-- walk over dead rows when an old snapshot keeps them. Numbers up to horizon.order_seq were drawn by transactions older
-- than horizon.xid (weir._take_horizon); when none of those runs any more, no such number can still appear. Tasks that
-- come later with an old number use the other class (-id), which has a floor of its own (weir._mark_classes).
-- Only in read committed: a look that is older than the lock would miss what others have raised.
create or replace function weir._raise_floors() returns void
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  h weir.horizon;
begin
  if current_setting('transaction_isolation') <> 'read committed' or not pg_try_advisory_xact_lock(86, 1) then
    return;
  end if;
  select * into h from weir.horizon;
  if h.xid = 0 or h.xid >= pg_snapshot_xmin(pg_current_snapshot())::text::bigint then
    return;
  end if;
  update weir.classes c set floor = least(x.floor, h.order_seq + 1)
  from (
    select c.id,
      coalesce((select a.order_seq from weir.available a where a.class = c.id and a.order_seq >= c.floor
          order by a.order_seq limit 1), h.order_seq + 1) as floor
    from weir.classes c
  ) x
  where c.id = x.id and least(x.floor, h.order_seq + 1) >= c.floor + 1000;
  update weir.horizon set xid = 0;
  -- Claims do the same for a class that has much to read (weir.claim), as long as they find something.
  perform weir._mark_classes(array(select distinct m.class from weir.class_moves m));
end $$;
comment on function weir._raise_floors is 'Moves the floors of the classes up. Writes only what moved.';
