-- Cancels a fleet job: what waits ends at once, what runs is asked to stop. The engine's own weir.cancel_job does the
-- same; this one refuses what is no fleet job.
-- One statement may cancel many, in any order, while others end runs of them. So the first call of a transaction takes
-- the leases of its job and then all fleet jobs in one order: those that have units first, for whoever ends the last
-- unit of one makes the next one active.
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
  if current_setting('weir.fleet_cancels', true) is distinct from pg_current_xact_id()::text then
    perform from weir.running r where r.job = fleet_cancel.job order by r.task for update;
    perform from weir.job_live l join weir.fleet_jobs j on j.job = l.job where j.state <> 'ended'
    order by j.planned_at is null, l.job for update of l;
    perform set_config('weir.fleet_cancels', pg_current_xact_id()::text, true);
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
