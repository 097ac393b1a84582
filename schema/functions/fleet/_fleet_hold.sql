-- Locks the row of a fleet job in job_live for a caller who holds another job. True: it is the caller's. False: the job
-- has ended. Null: somebody else has held it for 200 ms. A claim or the end of a run holds it for a moment; a statement
-- that cancels several jobs may hold it and wait for the caller, and then neither would come further. The time is below
-- the one after which PostgreSQL looks for a deadlock.
create or replace function weir._fleet_hold(of_job uuid) returns boolean
language plpgsql
set search_path = weir, pg_temp
set lock_timeout = '200ms'
as $$
begin
  perform from weir.job_live l where l.job = of_job for update;
  return found;
exception when lock_not_available then
  return null;
end $$;
comment on function weir._fleet_hold is 'Locks a fleet job, unless somebody else keeps it.';
