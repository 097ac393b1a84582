-- The clean-up after a run failed, so the device may not be as the next run expects it: it is suspect, and where there
-- is a health task, that comes before any other work. A run that succeeded does not clear it, because it ended before
-- the clean-up did. A device that is out of the schedule stays as it is.
create or replace function weir._device_unclean(u weir.fleet_units, of_device int, t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  d weir.devices;
begin
  select * into d from weir.devices x where x.id = of_device for update;
  if d.health in ('good', 'unknown', 'suspect') then
    perform weir._device_health(d.id, 'suspect',
      format('the clean-up after %s failed: %s', (select x.name from weir.jobs x where x.id = u.job), u.unclean),
      'fleet', u.job, array(select distinct e from unnest(d.evidence || u.task) e order by 1), t);
  end if;
end $$;
comment on function weir._device_unclean is 'A device whose clean-up failed is suspect.';
