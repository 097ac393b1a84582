-- Fleets: slots, one active job, one lease per device, and units that agree with the engine.
create or replace function weir._doctor_fleets() returns table (name text, ok boolean, level text, detail text)
language plpgsql stable
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  return query select * from weir._doctor('at most one fleet job is active', array(
    select format('%s jobs are active in lane %s', count(*), j.lane) from weir.fleet_jobs j where j.state = 'active'
    group by j.lane having count(*) > 1));

  return query select * from weir._doctor('no PC runs more devices than it has slots', array(
    select format('%s runs %s of %s', n.name, x.n, weir._pc_slots(p))
    from (select r.node, count(*) as n, max(r.claimed_at) as newest from weir.running r where r.device is not null
      group by r.node) x
      join weir.nodes n on n.id = x.node join weir.pcs p on p.node = n.id
    -- Who lowers the slots lets run what runs.
    where x.n > weir._pc_slots(p)
      and not exists (select from weir.events e
        where e.kind = 'pc' and e.subject = n.name and e.type = 'set' and e.at >= x.newest)
      and not exists (select from weir.events e where e.kind = 'fleet' and e.subject = 'policy' and e.at >= x.newest)));

  return query select * from weir._doctor('a device runs one thing at a time', array(
    select format('device %s has %s leases', r.device, count(*)) from weir.running r where r.device is not null
    group by r.device having count(*) > 1));

  return query select * from weir._doctor('a reserved device gets no new work', array(
    select format('%s is reserved by %s, and %s began on it', d.serial, d.reserved_by, r.task)
    from weir.running r join weir.devices d on d.id = r.device where d.reserved_at < r.claimed_at));

  return query select * from weir._doctor('a lease on a device belongs to a unit or to a health task', array(
    select format('%s runs on device %s, its unit is %s', r.task, r.device, coalesce(u.state, 'not there'))
    from weir.running r left join weir.fleet_units u on u.task = r.task
    where r.device is not null and r.job is not null and (u.state, u.device) is distinct from ('running', r.device)));

  return query select * from weir._doctor('a unit is where its task is', array(
    select format('unit %s of %s is %s, its task %s', u.unit, u.job, u.state, coalesce(s.state::text, 'nowhere'))
    from weir.fleet_units u, lateral (select weir._state_of(u.task) as state) s
    where u.state in ('running', 'retrying') and (u.state = 'running') <> (s.state is not distinct from 'running')
      or u.state = 'retrying' and s.state not in ('pending', 'available')));

  return query select * from weir._doctor('a fleet job counts its units right', array(
    select format('job %s says %s/%s/%s/%s of %s, has %s/%s/%s/%s of %s', l.job, l.done, l.failed, l.canceled,
      l.skipped, l.total, x.done, x.failed, x.canceled, x.missed, x.total)
    from weir.job_live l, lateral (
      select count(*) filter (where u.state = 'done') as done, count(*) filter (where u.state = 'failed') as failed,
        count(*) filter (where u.state = 'canceled') as canceled, count(*) filter (where u.state = 'missed') as missed,
        count(*) as total
        from weir.fleet_units u where u.job = l.job
    ) x
    where l.fleet
      and (l.done, l.failed, l.canceled, l.skipped, l.total) <> (x.done, x.failed, x.canceled, x.missed, x.total)));

  return query select * from weir._doctor('a fleet job lives as long as its job', array(
    select format('job %s is %s, and its job has ended', j.job, j.state) from weir.fleet_jobs j
    where j.state <> 'ended' and not exists (select from weir.job_live l where l.job = j.job)
    union all
    select format('job %s has ended, and its job has not', j.job) from weir.job_live l
    join weir.fleet_jobs j on j.job = l.job where j.state = 'ended'
    union all
    select format('job %s is %s, planned %s, and its job is %s', j.job, j.state, coalesce(j.planned_at::text, 'never'),
      case when l.due is null then 'built' else 'queued' end)
    from weir.fleet_jobs j join weir.job_live l on l.job = j.job
    where (j.planned_at is null) <> (l.due is not null) or j.state = 'active' and j.planned_at is null));

  return query select * from weir._doctor('a fleet job that could be active is', array(
    select format('%s fleet jobs wait in lane %s, and none is active', count(*), j.lane) from weir.fleet_jobs j
    where j.state = 'waiting'
      and not exists (select from weir.fleet_jobs a where a.state = 'active' and a.lane = j.lane)
    group by j.lane order by j.lane), 'health');

  return query select * from weir._doctor('a fleet job that nothing can serve ends', array(
    select format('job %s keeps others waiting since %s, and none of its devices can serve it', j.job,
      to_char(j.lingers_at at time zone 'UTC', 'HH24:MI UTC'))
    from weir.fleet_jobs j, weir.fleet_policy f
    where j.state = 'active' and j.missed_at < clock_timestamp() - interval '1 min'
      and weir._fleet_keeps(j, f.health is not null, clock_timestamp()) is distinct from 'infinity'), 'health');
end $$;
comment on function weir._doctor_fleets is 'Invariants of fleets.';
