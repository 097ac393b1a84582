-- How long the units of a fleet job keep it ACTIVE, by weir._fleet_answer: infinity while one is served or could be;
-- null if none does. Who could be served now is looked for first, since most jobs have one.
create or replace function weir._fleet_keeps(j weir.fleet_jobs, checked boolean, t timestamptz) returns timestamptz
language plpgsql stable
set search_path = weir, pg_temp
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
begin
  if exists (select from weir.fleet_units u where u.job = j.job and u.state = 'running')
    or exists (
      select from weir.fleet_units u join weir.devices d on d.id = u.device left join weir.nodes n on n.id = d.node
        left join weir.pcs p on p.node = n.id,
        lateral weir._device_answer(d, n, p, exists (select from weir.running r where r.device = d.id), checked, t) a
      where u.job = j.job and u.state in ('waiting', 'retrying') and a.verdict = 'now')
    or exists (
      select from (select u.excluded from weir.fleet_units u
        where u.job = j.job and u.device is null and u.state in ('waiting', 'retrying') limit 100) u,
        lateral (select from weir.devices d left join weir.nodes n on n.id = d.node
          left join weir.pcs p on p.node = n.id,
          lateral weir._device_answer(d, n, p, exists (select from weir.running r where r.device = d.id), checked, t) a
          where d.id <> all (u.excluded) and weir._fleet_matches(j.spec -> 'target', d.serial, d.labels)
            and a.verdict = 'now' limit 1) d) then
    return 'infinity';
  end if;
  return (
    select max(a.until) from (
      (select u from weir.fleet_units u
        where u.job = j.job and u.device is not null and u.state in ('waiting', 'retrying'))
      union all
      (select u from weir.fleet_units u
        where u.job = j.job and u.device is null and u.state in ('waiting', 'retrying') limit 100)
    ) x, lateral weir._fleet_answer(x.u, j, checked, t) a);
end $$;
comment on function weir._fleet_keeps is 'How long the units of a fleet job keep it active.';
