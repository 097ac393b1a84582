-- Gives units that any device may serve to idle devices of a PC, and locks them: PCs ask for the same ones, and who
-- comes later takes the next. All idle devices are looked at, not only the first ones that there is room for: those
-- may be the ones that a unit has been on already.
create or replace function weir._fleet_pick_open(of_node int, serves uuid, taken int[], room int, checked boolean)
returns table (device int, job uuid, unit int, task uuid)
language plpgsql
set search_path = weir, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  wants jsonb := (select j.spec -> 'target' from weir.fleet_jobs j where j.job = serves);
  got int[] := '{}';
  d record;
begin
  for d in
    select x.id from weir.devices x
    where x.node = of_node and weir._device_reason(x, checked) is null and x.id <> all (taken)
      and weir._fleet_matches(wants, x.serial, x.labels)
      and not exists (select from weir.running r where r.device = x.id)
        and not exists (select from weir.fleet_units o where o.device = x.id and o.state = 'retrying')
    order by x.id
  loop
    exit when cardinality(got) >= room;
    select d.id, u.job, u.unit, u.task into device, job, unit, task from weir.fleet_units u
    where u.job = serves and u.device is null and u.state in ('waiting', 'retrying') and d.id <> all (u.excluded)
      and u.unit <> all (got)
      and (u.task is null or not exists (select from weir.pending p where p.task = u.task))
    order by u.unit limit 1 for update skip locked;
    if not found then
      -- A unit that no device is excluded from would have been found.
      exit when not exists (select from weir.fleet_units u
        where u.job = serves and u.device is null and u.state in ('waiting', 'retrying') and u.excluded <> '{}'
          and u.unit <> all (got));
      continue;
    end if;
    got := got || unit;
    return next;
  end loop;
end $$;
comment on function weir._fleet_pick_open is 'Locks units that any device may serve.';
