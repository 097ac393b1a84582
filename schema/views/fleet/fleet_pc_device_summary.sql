-- Devices and runs per PC as the device queue counted them.
--   running_count          runs on its devices
--   eligible_device_count  devices that may get work
-- target                 how many should run: those that are eligible, that are due for their health task, or that run
-- something; at most max_devices. A runner claims target - running_count
create or replace view fleet.pc_device_summary as
select w.pc_id, x.device_count, x.online_count, x.busy_count, x.offline_count, x.error_count, r.running_count,
  e.eligible_device_count, least(w.max_devices, e.given) as target, w.max_devices, w.last_heartbeat
from fleet.workers w join weir.nodes n on n.name = w.pc_id join weir.pcs p on p.node = n.id,
  lateral (select count(*)::int as device_count, count(*) filter (where d.status = 'online')::int as online_count,
    count(*) filter (where d.status = 'busy')::int as busy_count,
    count(*) filter (where d.status = 'offline')::int as offline_count,
    count(*) filter (where d.status = 'error')::int as error_count
    from fleet.devices d where d.pc_id = w.pc_id) x,
  lateral (select count(*) filter (where a.reason is null)::int as eligible_device_count,
    count(*) filter (where a.verdict = 'now' or a.at <= f.now or b.busy)::int as given
    from weir.devices d
    cross join (select f.health is not null as checked, clock_timestamp() as now from weir.fleet_policy f offset 0) f,
      lateral (select exists (select from weir.running r where r.device = d.id) as busy) b,
      lateral weir._device_answer(d, n, p, b.busy, f.checked, f.now) a
    where d.node = n.id) e,
  lateral (select count(*)::int as running_count from weir.running r where r.node = n.id and r.device is not null) r;
comment on view fleet.pc_device_summary is 'Devices, runs and the target of each PC.';

create or replace trigger write instead of insert or update or delete on fleet.pc_device_summary for each row
execute function weir._flow_refuse('fleet.devices and fleet.workers');
