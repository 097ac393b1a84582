-- Moves pending tasks whose last gate has opened. They use the class beside the ordered one, so that no floor hides
-- them.
-- The caller holds the rows, so their ctids are still true. With the setting weir.singly, which weir.tend makes after
-- an error, each task is moved by itself, and the one that cannot be is set aside.
create or replace function weir._make_available(rows tid[], t timestamptz) returns int
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = on
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  moved int := 0;
  one tid;
begin
  if current_setting('weir.singly', true) = 'on' then
    perform set_config('weir.singly', 'off', true);
    foreach one in array rows loop
      begin
        moved := moved + weir._make_available(array[one], t);
      exception when others then
        perform weir._set_aside(p.task, 'open', sqlstate, sqlerrm, t) from weir.pending p where p.ctid = one;
      end;
    end loop;
    perform set_config('weir.singly', 'on', true);
    return moved;
  end if;
  with d as (
    delete from weir.pending p where p.ctid = any (rows) returning p.*
  ), a as (
    insert into weir.available (order_seq, task, class, position, attempt, opened_at, lane, pool, rank, exclusive)
    select d.order_seq, d.task, -d.class, d.position, d.attempt, t, d.lane, d.pool, d.rank, d.exclusive from d
  ), h as (
    insert into weir.pool_moves (pool, xid, held)
    select d.pool, pg_current_xact_id()::text::bigint, count(*) from d where d.pool is not null group by d.pool
  ), e as (
    insert into weir.events (at, type, attempt, job, tasks)
    select t, 'opened', d.attempt, d.job, array_agg(d.task) from d group by d.attempt, d.job
  )
  select count(*) into moved from d;
  return moved;
end $$;
comment on function weir._make_available is 'pending → available for tasks that passed every gate.';
