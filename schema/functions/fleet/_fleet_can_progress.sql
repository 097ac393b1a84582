-- Whether a fleet job can come further by itself: something of it runs, or one of its devices is eligible, or is kept
-- only by what ends soon: a pause of its PC, its health task, the 30 s that a missing device has.
create or replace function weir._fleet_can_progress(j weir.fleet_jobs, checked boolean, t timestamptz) returns boolean
language plpgsql stable
set search_path = weir, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  if exists (select from weir.fleet_units u where u.job = j.job and u.state = 'running') then
    return true;
  end if;
  if exists (
    select from weir.fleet_units u join weir.devices d on d.id = u.device join weir.nodes n on n.id = d.node
    left join weir.pcs p on p.node = n.id
    where u.job = j.job and u.state in ('waiting', 'retrying') and d.online and d.reserved_by is null
      and d.health in ('good', 'suspect', 'unknown') and (p.paused_until > t or weir._pc_reason(n, p, t) is null)
  ) then
    return true;
  end if;
  return exists (
    select from (select u.excluded from weir.fleet_units u
      where u.job = j.job and u.device is null and u.state in ('waiting', 'retrying') limit 100) u,
      lateral (select from weir.devices d join weir.nodes n on n.id = d.node left join weir.pcs p on p.node = n.id
        where d.online and d.reserved_by is null and d.health in ('good', 'suspect', 'unknown')
          and d.id <> all (u.excluded)
          and weir._fleet_matches(j.spec -> 'target', d.serial, d.labels)
          and (p.paused_until > t or weir._pc_reason(n, p, t) is null) limit 1) d);
end $$;
comment on function weir._fleet_can_progress is 'Can a fleet job come further?';
