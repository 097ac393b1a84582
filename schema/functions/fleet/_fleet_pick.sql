-- What the idle devices of a PC could do next, at most one thing each: a health task that is due; the retry of what
-- failed on it; a unit of the first of the jobs that are served which wants it, the first round first. What waits for
-- another attempt on a device comes before anything new on it. taken: devices that have something already. Nothing is
-- locked and nothing written: weir.fleet_claim takes what is here, under the lock of the PC. Who is eligible is said as
-- in weir._device_reason, but in columns: a text for each device is dear. It becomes part of the statement that asks,
-- and the settings of that are its own.
create or replace function weir._fleet_pick(of_node int, serves uuid[], taken int[], room int, checked boolean,
  t timestamptz)
returns table (device int, job uuid, unit int, task uuid)
language sql stable
as $$
  select x.device, x.job, x.unit, x.task from (
    select d.id as device, case when r.task is not null then r.job else w.job end as job,
      coalesce(r.unit, w.unit) as unit, r.task,
      case when k.due then 0 when not r.waits then 1 when w.unit is not null then 2 end as turn
    from weir.devices d cross join lateral (
      select coalesce(checked and d.check_at <= t and d.health in ('unknown', 'suspect', 'quarantined'), false) as due,
        d.health in ('good', 'suspect') or d.health = 'unknown' and not checked as eligible
    ) k left join lateral (
      select u.job, u.unit, u.task, exists (select from weir.pending p where p.task = u.task) as waits
      from weir.fleet_units u where u.device = d.id and u.state = 'retrying' order by 4 limit 1
    ) r on k.eligible and not k.due left join lateral (
      select s.job, u.unit from unnest(serves) with ordinality s (job, nth), lateral (
        select u.unit from weir.fleet_units u where u.device = d.id and u.job = s.job and u.state = 'waiting'
        order by u.unit limit 1
      ) u order by s.nth limit 1
    ) w on k.eligible and not k.due and r.task is null
    where d.node = of_node and d.online and d.missing_at is null and d.reserved_by is null and d.id <> all (taken)
      and not exists (select from weir.running o where o.device = d.id)
  ) x where x.turn is not null order by x.turn, x.unit limit room
$$;
comment on function weir._fleet_pick is 'What idle devices of a PC could do next.';
