-- Leases what was picked for the devices of a PC, whose row the caller holds. Retries leave available; all else becomes
-- a task now, and runs at once. Returns how many.
create or replace function weir._fleet_lease_picks(picks weir.fleet_units[], n weir.nodes, of_worker int, fence uuid,
  lease interval, t timestamptz)
returns int
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  made int := 0;
  k record;
begin
  select array_agg(p) filter (where p.task is not null) as again,
    array_agg(p) filter (where p.task is null and p.job is not null) as fresh,
    array_agg(p.device) filter (where p.job is null) as checks
  into k from unnest(picks) p;
  if k.checks is not null then
    made := made + weir._fleet_lease_checks(k.checks, n, of_worker, fence, lease, t);
  end if;
  if k.again is not null then
    made := made + weir._fleet_lease_retries(k.again, n, of_worker, fence, lease, t);
  end if;
  if k.fresh is not null then
    made := made + weir._fleet_lease_units(k.fresh, n, of_worker, fence, lease, t);
  end if;
  return made;
end $$;
comment on function weir._fleet_lease_picks is 'Leases picked units to a PC.';
