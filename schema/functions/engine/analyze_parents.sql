-- Autovacuum never analyzes a partitioned parent; without this the planner knows nothing of the whole.
create or replace function weir.analyze_parents() returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
begin
  analyze weir.tasks;
  analyze weir.finished;
  analyze weir.jobs;
  analyze weir.job_finished;
  analyze weir.events;
end $$;
comment on function weir.analyze_parents is 'ANALYZE of the partitioned tables.';
