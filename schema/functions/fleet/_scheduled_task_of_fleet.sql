-- Refuses the schedule of a fleet job that could not be submitted. Its runs may wait for one another. See
-- weir.set_schedule.
create or replace function weir._scheduled_task_of_fleet(params jsonb, jitter interval) returns void
language plpgsql stable
set search_path = weir, pg_temp
as $$
begin
  perform weir._fleet_spec(params);
  if jitter > interval '0' then
    perform weir._invalid('jitter', 'a fleet job starts when it is its turn', hint => 'leave it out');
  end if;
end $$;
comment on function weir._scheduled_task_of_fleet is 'WR422 for a schedule of a bad fleet job.';
