-- Submits the fleet jobs of due runs of a schedule, as far as its policy on overlaps lets them: skip leaves a run out
-- while another of the schedule lives, queue_one while another waits, cancel_running keeps the newest alone. All else
-- waits its turn, as fleet jobs do. The caller holds the schedule's row, so runs come one by one.
create or replace function weir._fire_fleet(s weir.schedules, due timestamptz[], t timestamptz) returns uuid[]
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  d timestamptz;
  ids uuid[] := '{}';
begin
  if s.overlap = 'cancel_running' then
    due := due[cardinality(due):];
    perform weir.fleet_cancel(l.job, 'schedule ' || s.name, 'the next run is due', at => t) from weir.job_live l
    where l.schedule = s.name and l.fleet and l.cancel_at is null;
  end if;
  foreach d in array due loop
    continue when s.overlap = 'skip' and exists (select from weir.job_live l where l.schedule = s.name)
      or s.overlap = 'queue_one'
        and exists (select from weir.job_live l where l.schedule = s.name and l.due is not null);
    ids := ids
      || weir.fleet_submit(coalesce(nullif(s.task -> 'params' ->> 'name', ''), s.name), s.task -> 'params',
        'schedule ' || s.name, weir._run_key(s.name, d), s.name, at => t);
  end loop;
  update weir.schedules x set last_job = coalesce(ids[cardinality(ids)], x.last_job) where x.name = s.name;
  return ids;
end $$;
comment on function weir._fire_fleet is 'Submits the fleet jobs of due runs.';
