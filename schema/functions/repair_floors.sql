-- Brings back available tasks that the floor of their class hides, which weir.doctor names: they come to stand under the class that has no floor, in the same place of
-- the order. Returns how many there were. It repairs what should not happen, so it is the operator's to call, and a second call finds nothing.
create or replace function weir.repair_floors() returns int
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  moved int;
begin
  with d as (
    delete from weir.available a using weir.classes c where c.id = a.class and a.order_seq < c.floor returning a.*
  ), i as (
    insert into weir.available (order_seq, task, class, position, attempt, opened_at, lane, pool)
    select d.order_seq, d.task, -d.class, d.position, d.attempt, d.opened_at, d.lane, d.pool from d
  )
  select count(*) into moved from d;
  if moved > 0 then
    perform pg_notify('weir_available', '');
  end if;
  return moved;
end $$;
comment on function weir.repair_floors is 'Brings back tasks that a floor hides. Returns how many.';
