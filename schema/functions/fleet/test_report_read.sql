-- What the leader read of a report of tests. uploaded: when what it read was uploaded; if another one was uploaded
-- meanwhile, nothing is written, because that one is due. fault: why it could not be read; later: when it is tried
-- again, five times at most. False: nothing was written.
create or replace function weir.test_report_read(artifact bigint, uploaded timestamptz, report jsonb default null,
  fault text default null, later timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  update weir.test_reports r
  set due = case when r.tries < 4 then test_report_read.later end, tries = r.tries + 1,
    tests = coalesce((report ->> 'tests')::int, 0), failures = coalesce((report ->> 'failures')::int, 0),
    errors = coalesce((report ->> 'errors')::int, 0), skipped = coalesce((report ->> 'skipped')::int, 0),
    seconds = coalesce((report ->> 'seconds')::float8, 0), failed = coalesce(report -> 'failed', '[]'),
    fault = left(weir._text(test_report_read.fault), 500)
  from weir.artifacts a
  where r.artifact = test_report_read.artifact and a.id = r.artifact and a.at = test_report_read.uploaded;
  return found;
end $$;
comment on function weir.test_report_read is 'Notes what a report of tests says.';
