-- Refuses to run a unit of a fleet job again by itself: it has no attempts of its own. See weir._revive.
create or replace function weir._revive_of_fleet(tasks uuid[]) returns void
language plpgsql stable
set search_path = weir, pg_temp
as $$
begin
  if exists (select from weir.fleet_units u where u.task = any (tasks)) then
    perform weir._conflict('a run of a fleet job is not run again by itself',
      hint => 'submit the job again, with those devices as its target');
  end if;
end $$;
comment on function weir._revive_of_fleet is 'WR409 for a run of a fleet job.';
