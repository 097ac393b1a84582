-- PCs with their slots and devices. target is how many devices should be at work: as many as would be given something,
-- a health task too, within the slots, and no fewer than are at work.
create or replace view weir.pc as
select n.name, weir._pc_state(n, p, clock_timestamp()) as state,
  weir._sentence(jsonb_strip_nulls(weir._pc_reason(n, p, clock_timestamp()))) as why, weir._pc_slots(p) as slots,
  greatest(least(weir._pc_slots(p), x.given), r.running)::int as target, r.running::int, x.eligible::int,
  x.devices::int, x.online::int, x.quarantined::int,
  case when p.paused_until > clock_timestamp() then p.paused_until end as paused_until, p.pause_note, p.trouble,
  p.reported_at, n.seen_at, n.registered_at, p.slots as set_slots, n.labels,
  jsonb_strip_nulls(weir._pc_reason(n, p, clock_timestamp())) as reason
from weir.pcs p join weir.nodes n on n.id = p.node,
  lateral (select count(*) filter (where d.health <> 'retired') as devices,
    count(*) filter (where d.online and d.missing_at is null and d.health <> 'retired') as online,
    count(*) filter (where d.health = 'quarantined') as quarantined,
    count(*) filter (where a.reason is null) as eligible,
    count(*) filter (where a.verdict = 'now' or a.at <= f.now or b.busy) as given
    from weir.devices d
    cross join (select f.health is not null as checked, clock_timestamp() as now from weir.fleet_policy f offset 0) f,
      lateral (select exists (select from weir.running r where r.device = d.id) as busy) b,
      lateral weir._device_answer(d, n, p, b.busy, f.checked, f.now) a
    where d.node = n.id) x,
  lateral (select count(*) as running from weir.running r where r.node = n.id and r.device is not null) r;
comment on view weir.pc is 'PCs, their slots and their devices.';
