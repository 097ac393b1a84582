-- What the idle devices of a PC could do next, at most one thing each: a health task that is due; the retry of what failed on it; a unit of the job that is served, the first
-- round first. taken: devices that have something already. Nothing is locked and nothing written: weir.fleet_claim takes what is here, under the lock of the PC.
create or replace function weir._fleet_pick(of_node int, serves uuid, taken int[], room int, checked boolean, t timestamptz)
returns table (device int, job uuid, unit int, task uuid)
language plpgsql stable
set search_path = weir, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
begin
  return query
  select x.device, x.job, x.unit, x.task from (
    select d.id as device, c.*
    from weir.devices d, lateral (
      select 0 as turn, null::uuid as job, null::int as unit, null::uuid as task where checked and d.check_at <= t and d.health in ('unknown', 'suspect', 'quarantined')
      union all
      (select 1, u.job, u.unit, u.task from weir.fleet_units u
      where u.device = d.id and u.state = 'retrying' and weir._device_why(d, checked) is null and not exists (select from weir.pending p where p.task = u.task) limit 1)
      union all
      -- What waits for another attempt on it comes first.
      (select 2, u.job, u.unit, null from weir.fleet_units u
      where u.device = d.id and u.job = serves and u.state = 'waiting' and weir._device_why(d, checked) is null
        and not exists (select from weir.fleet_units o where o.device = d.id and o.state = 'retrying') order by u.unit limit 1)
      order by 1 limit 1
    ) c
    where d.node = of_node and d.online and d.missing_at is null and d.id <> all (taken) and not exists (select from weir.running r where r.device = d.id)
  ) x order by x.turn, x.unit limit room;
end $$;
comment on function weir._fleet_pick is 'What idle devices of a PC could do next.';
