-- Adds to what a PC takes: what its devices are wanted for, then units of the jobs that any device may serve. Each pick
-- is a unit with the device that is to serve it; without a job it is a health task.
create or replace function weir._fleet_picks(picks weir.fleet_units[], of_node int, serves uuid[], room int,
  checked boolean, t timestamptz)
returns weir.fleet_units[]
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  taken int[] := array(select p.device from unnest(picks) p);
  j uuid;
begin
  picks := picks || array(
    select weir._fleet_pick_row(x.job, x.unit, x.device, x.task)
    from weir._fleet_pick(of_node, serves, taken, room - cardinality(picks), checked, t) x);
  foreach j in array coalesce(serves, '{}') loop
    exit when cardinality(picks) >= room;
    continue when not exists (select from weir.fleet_units u
      where u.job = j and u.device is null and u.state in ('waiting', 'retrying'));
    taken := array(select p.device from unnest(picks) p);
    picks := picks || array(
      select weir._fleet_pick_row(x.job, x.unit, x.device, x.task)
      from weir._fleet_pick_open(of_node, j, taken, room - cardinality(picks), checked) x);
  end loop;
  return picks;
end $$;
comment on function weir._fleet_picks is 'What a PC takes of a job.';
