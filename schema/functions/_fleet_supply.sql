-- Leases what was picked for the devices of a PC, whose row the caller holds. Retries leave available; all else becomes a task now, and runs at once. Returns how many.
create or replace function weir._fleet_supply(picks weir.fleet_units[], n weir.nodes, of_worker int, fence uuid, lease interval, t timestamptz) returns int
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  made int := 0;
  again weir.fleet_units[] := array(select p from unnest(picks) p where p.task is not null);
  fresh weir.fleet_units[] := array(select p from unnest(picks) p where p.task is null and p.job is not null);
  checks int[] := array(select p.device from unnest(picks) p where p.job is null);
begin
  if cardinality(checks) > 0 then
    made := made + weir._fleet_check(checks, n, of_worker, fence, lease, t);
  end if;
  if cardinality(again) > 0 then
    made := made + weir._fleet_again(again, n, of_worker, fence, lease, t);
  end if;
  if cardinality(fresh) > 0 then
    made := made + weir._fleet_fresh(fresh, n, of_worker, fence, lease, t);
  end if;
  return made;
end $$;
comment on function weir._fleet_supply is 'Leases picked units to a PC.';
