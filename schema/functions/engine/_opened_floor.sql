-- Nothing under -class has a lower number: the floor at the mark, or what came since. A mark that is ahead of the
-- newest transaction is of another cluster, and says nothing here. weir.claim has the same in its statement, because it
-- counts what came as well.
create or replace function weir._opened_floor(c weir.classes, newest bigint) returns bigint
language sql stable
as $$
  select least(c.opened_floor,
    (select min(m.low) from weir.class_moves m
      where m.class = c.id and m.xid >= case when c.opened_mark > newest then 0 else c.opened_mark end))
$$;
comment on function weir._opened_floor is 'The lowest number that a task under -class may have.';
