-- Cancels a fleet job: what waits ends at once, what runs is asked to stop. The engine's own weir.cancel_job does the
-- same; this one refuses what is no fleet job.
create or replace function weir.fleet_cancel(job uuid, by text default null, reason text default null,
  at timestamptz default null, out canceled int, out requested int)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(fleet_cancel.at);
  x record;
begin
  if not exists (select from weir.fleet_jobs j where j.job = fleet_cancel.job) then
    perform weir._not_found('fleet job', fleet_cancel.job::text);
  end if;
  insert into weir.events (at, type, kind, subject, job, source, message)
  select t, 'cancel_requested', 'fleet', fleet_cancel.job, fleet_cancel.job, fleet_cancel.by,
    weir._note('canceled', fleet_cancel.by, fleet_cancel.reason)
  where exists (select from weir.job_live l where l.job = fleet_cancel.job and l.cancel_at is null);
  select c.canceled, c.requested into x
  from weir.cancel_job(fleet_cancel.job, fleet_cancel.by, fleet_cancel.reason, at => fleet_cancel.at) c;
  canceled := x.canceled
    + (select count(*) from weir.fleet_units u where u.job = fleet_cancel.job and u.state = 'waiting');
  requested := x.requested;
end $$;
comment on function weir.fleet_cancel is 'Cancels a fleet job.';
