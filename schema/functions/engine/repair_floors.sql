-- Brings back tasks that a floor hides, which weir.doctor names, and counts the pools again. Available ones come to
-- stand under -class, in the same place of the order.
-- Returns how many there were. While it waits for the locks of all pools, up to 5 s, others leave theirs to the next
-- pass of weir.tend. It repairs what should not happen, so it is the operator's to call, and a second call finds
-- nothing.
create or replace function weir.repair_floors() returns int
language plpgsql security definer
set search_path = weir, pg_temp
set lock_timeout = '5s'
as $$
#variable_conflict use_column
declare
  hidden int;
begin
  perform pg_advisory_xact_lock(86, 1);
  perform pg_advisory_xact_lock(87, b) from generate_series(32, 63) b;
  select count(*) into hidden from weir._hidden;
  with d as (
    delete from weir.available a using weir.classes c where c.id = a.class and a.order_seq < c.floor returning a.*
  ), i as (
    insert into weir.available (order_seq, task, class, position, attempt, opened_at, lane, pool, rank, exclusive)
    select d.order_seq, d.task, -d.class, d.position, d.attempt, d.opened_at, d.lane, d.pool, d.rank, d.exclusive from d
  )
  update weir.classes set opened_floor = 0 where opened_floor > 0;
  update weir.pools set held = null, mark = 0;
  perform weir._mark_pools(array(select p.name from weir.pools p));
  if hidden > 0 then
    perform weir._defer_keys(false, array(select p.name from weir.pools p), weir._clock(null));
    perform pg_notify('weir_available', '');
  end if;
  return hidden;
end $$;
comment on function weir.repair_floors is 'Brings back tasks that a floor hides. Returns how many.';
