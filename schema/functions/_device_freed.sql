-- The lease of a device has ended, whichever way. Runs at commit, when what became of the task is known, and in the same transaction: its unit follows, and what the end means for
-- the device and for the job is done. The job, if it ended with this, has been closed by the engine; weir._fleet_closed makes the next one active.
create or replace function weir._device_freed() returns trigger
language plpgsql security definer
set search_path = weir, pg_temp
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  f weir.finished;
  u weir.fleet_units;
  t timestamptz;
begin
  select * into f from weir.finished x where x.task = old.task;
  t := coalesce(f.at, (select p.since from weir.pending p where p.task = old.task),
    (select a.opened_at from weir.tasks q, weir.available a where q.id = old.task and a.class = -q.class and a.order_seq = q.order_seq and a.position = q.position), clock_timestamp());
  update weir.fleet_units x set state = case f.outcome when 'done' then 'done' when 'failed' then 'failed' when 'canceled' then 'canceled' when 'skipped' then 'missed' else 'retrying' end, cause = f.cause
  where x.task = old.task returning * into u;
  if not found then
    perform weir._device_checked(old.device, old.task, f, t);
  elsif f.outcome = 'done' then
    perform weir._device_worked(old.device, t);
  elsif f.outcome = 'failed' then
    perform weir._fleet_failed(u, f, old.device, t);
  end if;
  return null;
end $$;
comment on function weir._device_freed is 'Trigger: units, devices and jobs follow the end of a lease.';
