-- Moves pending tasks whose last gate has opened. They use the class beside the ordered one, so that no floor hides them.
create or replace function weir._make_available(ids uuid[], t timestamptz) returns int
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  moved int;
begin
  with d as (
    delete from weir.pending p using unnest(ids) i (task) where p.task = i.task returning p.*
  ), a as (
    insert into weir.available (order_seq, task, class, position, attempt, exclusive, opened_at, lane, rank, pool)
    select d.order_seq, d.task, -d.class, d.position, d.attempt, d.exclusive, t, d.lane, d.rank, d.pool from d
  ), e as (
    insert into weir.events (at, type, attempt, job, tasks) select t, 'opened', d.attempt, d.job, array_agg(d.task) from d group by d.attempt, d.job
  )
  select count(*) into moved from d;
  return moved;
end $$;
comment on function weir._make_available is 'pending → available for tasks that passed every gate.';
