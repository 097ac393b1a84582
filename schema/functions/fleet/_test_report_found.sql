-- A run of a fleet job left a report of tests: the leader reads it. One that was uploaded again is read again.
create or replace function weir._test_report_found() returns trigger
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  insert into weir.test_reports (artifact, job, task, attempt, due)
  select new.id, new.job, new.task, new.attempt, new.at from weir.fleet_jobs j where j.job = new.job
  on conflict (artifact) do update set due = excluded.due, tries = 0;
  return null;
end $$;
comment on function weir._test_report_found is 'Trigger: a report of tests is to be read.';
