-- Devices as the device queue had them. INSERT (serial, pc_id, target, hub, labels) says that a PC sees a device, new
-- or known: a runner does that with each of its heartbeats, and what says nothing new writes nothing. UPDATE of status
-- to offline says that it is gone. A retired device is not here.
-- status  online | busy (it runs something, or a person has it) | offline (it or its PC) | error (out of the schedule:
-- FAILED_FINAL, or by a person)   error   why it is out
create or replace view fleet.devices as
select d.id, d.serial, n.name as pc_id,
  case when d.health in ('quarantined', 'maintenance') then 'error'
    when not d.online or d.missing_at is not null or n.seen_at < clock_timestamp() - interval '45 s' then 'offline'
    when r.task is not null or d.reserved_by is not null then 'busy' else 'online' end as status,
  case when d.health in ('quarantined', 'maintenance') then coalesce(d.health_note, d.health) end as error, d.target,
    d.hub, d.labels, r.task as task_device_id,
  case when not d.online then d.online_at when d.missing_at is not null then d.missing_at
    else n.seen_at end as last_heartbeat, d.registered_at as created_at
from weir.devices d left join weir.nodes n on n.id = d.node left join weir.running r on r.device = d.id
where d.health <> 'retired';
comment on view fleet.devices is 'Devices. INSERT (serial, pc_id, …) says that a PC sees one.';

create or replace trigger write instead of insert or update or delete on fleet.devices for each row
execute function weir._fleet_device_row();
