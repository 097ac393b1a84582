-- On how many good devices a fleet job may fail before it is stopped as bad: as its spec says, or else half of the
-- devices of its target, at least 2 and at most 5. A lab of three devices must survive a red build as one of thirty
-- does.
create or replace function weir._fleet_breaker(j weir.fleet_jobs) returns int
language sql stable
set search_path = weir, pg_temp
as $$
  select case when nullif(j.spec -> 'breaker', 'null') is not null then j.breaker
    else (select greatest(2, least(5, (count(*) + 1) / 2)) from weir.devices d
      where d.health <> 'retired' and weir._fleet_matches(j.spec -> 'target', d.serial, d.labels))::int end
$$;
comment on function weir._fleet_breaker is 'After how many failures a fleet job is bad.';
