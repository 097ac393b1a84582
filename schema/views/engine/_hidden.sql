-- Tasks that no look would find, because a floor has passed them: available ones (class) and those that wait at a pool
-- (pool). There should be none; weir.repair_floors brings them back.
create or replace view weir._hidden as
select a.task, a.order_seq, a.class, c.floor, null::text as pool from weir.available a
join weir.classes c on c.id = a.class where a.order_seq < c.floor
union all
select a.task, a.order_seq, a.class, c.opened_floor, null from weir.available a join weir.classes c on c.id = -a.class
where a.order_seq < c.opened_floor
  and not exists (select from weir.class_moves m
    where m.class = c.id and m.xid >= c.opened_mark and m.low <= a.order_seq)
union all
select p.task, p.order_seq, null, l.head, l.name from weir.pending p join weir.pools l on l.name = p.pool
where p.gate = 'pool' and l.held is not null
  and (l.head is null or (-(p.priority::int), p.order_seq) < (-(l.head_priority::int), l.head))
  and not exists (select from weir.pool_moves m
    where m.pool = l.name and m.xid >= l.mark and (-(m.priority::int), m.low) <= (-(p.priority::int), p.order_seq));
comment on view weir._hidden is 'Tasks that a floor hides.';
