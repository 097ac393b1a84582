-- Moves pending tasks whose last gate has opened. They use the class beside the ordered one, so that no floor hides them.
-- The caller holds the rows, so their ctids are still true.
create or replace function weir._make_available(rows tid[], t timestamptz) returns int
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = on
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  moved int;
begin
  with d as (
    delete from weir.pending p where p.ctid = any (rows) returning p.*
  ), a as (
    insert into weir.available (order_seq, task, class, position, attempt, opened_at, lane, pool)
    select d.order_seq, d.task, -d.class, d.position, d.attempt, t, d.lane, d.pool from d
  ), e as (
    insert into weir.events (at, type, attempt, job, tasks) select t, 'opened', d.attempt, d.job, array_agg(d.task) from d group by d.attempt, d.job
  )
  select count(*) into moved from d;
  return moved;
end $$;
comment on function weir._make_available is 'pending → available for tasks that passed every gate.';
