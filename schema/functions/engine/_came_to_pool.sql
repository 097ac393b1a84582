-- Says that a task came to wait at a pool, so that the pool looks at its place in the line: the trigger of
-- weir.pending. weir.waits keeps what this transaction has said last, as in weir._came_to_class; weir._mark_pools
-- forgets it.
create or replace function weir._came_to_pool() returns trigger
language plpgsql
set search_path = weir, pg_temp
as $$
declare
  said text := current_setting('weir.waits', true);
  place text := (-(new.priority::int)) || ' ' || new.order_seq;
begin
  if substr(said, strpos(said, '/') + 1) = new.pool
    and (split_part(said, ' ', 1)::int, split_part(split_part(said, '/', 1), ' ', 2)::bigint) <= (-(new.priority::int),
      new.order_seq)
  then
    return null;
  end if;
  insert into weir.pool_moves (pool, xid, priority, low)
  values (new.pool, pg_current_xact_id()::text::bigint, new.priority, new.order_seq);
  perform set_config('weir.waits', place || '/' || new.pool, true);
  return null;
end $$;
comment on function weir._came_to_pool is 'Notes the place of a task that came to wait at a pool.';
