-- A fleet job has ended. If it was active, the oldest of its lane that waits is active now, in the same transaction.
create or replace function weir._fleet_closed() returns trigger
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  was text;
  of_lane text;
  t timestamptz := coalesce((select f.at from weir.job_finished f where f.job = old.job), clock_timestamp());
begin
  select j.state, j.lane into was, of_lane from weir.fleet_jobs j where j.job = old.job;
  if was is null or was = 'ended' then
    return null;
  end if;
  update weir.fleet_jobs j set state = 'ended', ended_at = t, lingers_at = null,
    missed = (select count(*) from weir.fleet_units u where u.job = old.job and u.state = 'missed')
    where j.job = old.job;
  if was = 'active' then
    perform weir._fleet_next(of_lane, t);
  end if;
  return null;
end $$;
comment on function weir._fleet_closed is 'Trigger: the end of a fleet job makes the next one active.';
