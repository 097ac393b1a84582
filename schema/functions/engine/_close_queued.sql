-- Ends a job that is queued. False when it is not queued any more.
create or replace function weir._close_queued(of_job uuid, outcome weir.state, cause text, by text, t timestamptz)
returns boolean
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  delete from weir.job_live x where x.job = of_job and x.due is not null;
  if not found then
    return false;
  end if;
  insert into weir.job_finished (job, at, outcome, done, failed, canceled, skipped, cause)
  values (of_job, t, _close_queued.outcome, 0, 0, 0, 0, weir._text(_close_queued.cause));
  insert into weir.events (at, type, kind, subject, job, source, level, message)
  values (t, _close_queued.outcome, 'job', of_job, of_job, by,
    case when _close_queued.outcome = 'failed' then 'error' end, weir._text(_close_queued.cause));
  perform pg_notify('weir_plan', '');
  return true;
end $$;
comment on function weir._close_queued is 'queued → done, failed or canceled.';
