-- Whether a unit can be served: the answer of its device (weir._device_answer), or, if any device may serve it, the
-- best answer of its target. A unit whose next attempt is not due yet is served later, by itself.
-- until: how long it keeps its job ACTIVE. Infinity while it is served, or could be; null if only a person can help, or
-- if what is waited for comes later than the job lingers. A device that is away keeps it for that long after it was
-- lost or the job became active, and for the 30 s in which a device is only missing.
create or replace function weir._fleet_answer(u weir.fleet_units, j weir.fleet_jobs, checked boolean, t timestamptz)
returns table (verdict text, at timestamptz, until timestamptz, reason jsonb)
language sql stable
as $$
  select case when a.verdict = 'now' and w.run_at > t then 'later' else coalesce(a.verdict, 'never') end,
    case when a.verdict = 'now' then w.run_at else a.at end,
    case when u.state = 'running' or a.verdict = 'now' then timestamptz 'infinity'
      when a.verdict is distinct from 'later' then null
      when a.since is not null then greatest(a.since + interval '30 s',
        greatest(a.since, coalesce(j.activated_at, j.planned_at)) + j.linger)
      when a.at <= coalesce(j.lingers_at, t) + j.linger then coalesce(j.lingers_at, t) + j.linger end,
    a.reason
  from (select) one left join lateral (
    select x.* from weir.devices d left join weir.nodes n on n.id = d.node left join weir.pcs p on p.node = n.id,
      lateral weir._device_answer(d, n, p, exists (select from weir.running r where r.device = d.id), checked, t) x
    where case when u.device is not null then d.id = u.device
      else d.id <> all (u.excluded) and weir._fleet_matches(j.spec -> 'target', d.serial, d.labels) end
    order by array_position(array['now', 'later', 'person', 'never'], x.verdict), x.at nulls last limit 1
  ) a on true left join weir.pending w on w.task = u.task
$$;
comment on function weir._fleet_answer is 'Can a unit be served, and how long does it keep its job active?';
