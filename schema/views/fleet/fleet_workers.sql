-- PCs as the device queue had them. From the tables, as in weir.pc: a worker may not call what that calls. INSERT
-- (pc_id, max_devices) registers one and is a heartbeat, and so is an UPDATE of last_heartbeat. device_capacity is
-- another name of max_devices: its slots.
--   status  online | offline | what keeps it from working: paused, draining, …
create or replace view fleet.workers as
select n.name as pc_id, s.slots as device_capacity, s.slots as max_devices,
  case when n.seen_at < clock_timestamp() - interval '45 s' then 'offline'
    when p.paused_until > clock_timestamp() then 'paused'
    when n.mode <> 'active' and coalesce(n.mode_until, 'infinity') > clock_timestamp() then n.mode
      else 'online' end as status,
  n.seen_at as last_heartbeat, n.registered_at as created_at
from weir.pcs p join weir.nodes n on n.id = p.node
cross join weir.fleet_policy f, lateral (select coalesce(p.slots, p.reported_slots, f.slots) as slots) s;
comment on view fleet.workers is 'PCs. INSERT (pc_id, max_devices) registers one, and is a heartbeat.';

create or replace trigger write instead of insert or update or delete on fleet.workers for each row
execute function weir._fleet_worker_row();
