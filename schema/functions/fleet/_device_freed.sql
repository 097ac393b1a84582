-- The lease of a device has ended, whichever way. Runs at commit, when what became of the task is known, and in the
-- same transaction: its unit follows, and what the end means for the device and for the job is done. The job, if it
-- ended with this, has been closed by the engine; weir._fleet_closed makes the next one active.
-- Whoever ends a run holds the row of its job until he commits, and all others who end one wait for it: this is one
-- statement for nearly all of them, and never planned anew.
create or replace function weir._device_freed() returns trigger
language plpgsql security definer
set search_path = weir, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  x record;
begin
  update weir.fleet_units u
  set state = case f.outcome when 'done' then 'done' when 'failed' then 'failed' when 'canceled' then 'canceled'
    when 'skipped' then 'missed' else 'retrying' end, cause = f.cause
  from (values (old.task)) o (task) left join weir.finished f on f.task = o.task
  where u.task = o.task
  returning u as unit, f as ended, f.outcome, (select d.health from weir.devices d where d.id = old.device) as health
  into x;
  if not found then
    -- A health task. If it was cut off, it is back among those that wait, and since when is written there.
    perform weir._device_checked(old.device, old.task, f,
      coalesce(f.at, (select p.since from weir.pending p where p.task = old.task),
      (select a.opened_at from weir.tasks q, weir.available a
        where q.id = old.task and a.class = -q.class and a.order_seq = q.order_seq and a.position = q.position),
      clock_timestamp()))
    from (values (old.task)) o (task) left join weir.finished f on f.task = o.task;
    return null;
  end if;
  if x.outcome = 'done' and x.health in ('suspect', 'unknown') and (x.unit).unclean is null then
    perform weir._device_worked(old.device, (x.ended).at);
  elsif x.outcome = 'failed' then
    perform weir._fleet_failed(x.unit, x.ended, old.device, (x.ended).at);
  end if;
  if (x.unit).unclean is not null then
    perform weir._device_unclean(x.unit, old.device, coalesce((x.ended).at, clock_timestamp()));
  end if;
  return null;
end $$;
comment on function weir._device_freed is 'Trigger: units, devices and jobs follow the end of a lease.';
