-- Says that so many tasks that held a place in a pool have left it. Whoever takes a task out of weir.available or
-- weir.running for good says so; weir._make_available says who came.
create or replace function weir._left_pool(pool text, n int default 1) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
begin
  if _left_pool.pool is not null then
    insert into weir.pool_moves (pool, xid, held)
    values (_left_pool.pool, pg_current_xact_id()::text::bigint, -_left_pool.n);
  end if;
end $$;
comment on function weir._left_pool is 'Notes places of a pool that became free.';
