-- Whether a device can serve work, and if not, what would have to happen. This is the one judge: linger, the target of
-- a PC, why and the doctor read it, for a unit by weir._fleet_answer.
--   now     it may work. Its health task, if that is due first, is work too: then there is a reason all the same
--   later   by itself. at: when; null: it is away since then, and may come back
--   person  a person has to do something first. What is away for more than a day is not coming back by itself
--   never   it is retired
-- A health task that is due makes the answer of a quarantined device later, at a time that has passed; one that is
-- offline has to come back first. busy: something
-- runs on it. The function has no table of its own, because views use it, and a view's functions run as the reader.
create or replace function weir._device_answer(d weir.devices, n weir.nodes, p weir.pcs, busy boolean, checked boolean,
  t timestamptz)
returns table (verdict text, at timestamptz, since timestamptz, reason jsonb)
language sql stable parallel safe
as $$
  select (array['now', 'later', 'person', 'never'])[x.rank],
    case when x.rank = 2 then greatest(x.device_at, x.pc_at) end,
    case when x.rank = 2 then greatest(x.device_since, x.pc_since) end,
    coalesce(case when r.device_code in ('device_out', 'device_reserved') then r.device end, r.pc, r.device)
  from (
    select w.pc, w.pc ->> 'code' as pc_code, w.device, w.device ->> 'code' as device_code
    from (select weir._pc_reason(n, p, t) as pc, weir._device_reason(d, checked) as device) w
  ) r, lateral (
    select case r.pc_code when 'pc_offline' then n.seen_at when 'pc_left' then p.left_at
        when 'pc_blind' then p.blind_at end as pc_since,
      case r.pc_code when 'pc_paused' then p.paused_until when 'pc_mode' then nullif(n.mode_until, 'infinity')
        end as pc_at,
      case when r.device_code = 'device_offline' then d.online_at
        when r.device_code = 'device_missing' then d.missing_at
        when checked and d.health = 'quarantined' and d.check_at is not null and not d.online then d.online_at
        end as device_since,
      case when checked and (r.device_code = 'device_unchecked' or d.health = 'quarantined' and d.online) then
        case when busy then t else d.check_at end
        when d.health = 'maintenance' then d.health_until
        when r.device_code = 'device_reserved' then d.reserved_until end as device_at
  ) a, lateral (
    select greatest(
      case when r.pc is null then 1
        when a.pc_at is not null or a.pc_since > t - interval '1 day' then 2 else 3 end,
      case when r.device is null or r.device_code = 'device_unchecked' and a.device_at <= t then 1
        when d.health = 'retired' then 4
        when a.device_at is not null or a.device_since > t - interval '1 day' then 2 else 3 end) as rank,
      a.device_at, a.device_since, a.pc_at, a.pc_since
  ) x
$$;
comment on function weir._device_answer is 'Can a device serve: now, later by itself, only by a person, or never?';
