-- Makes the health tasks of devices and leases them to their PC. One attempt each: when the next is due is the device's
-- matter. They belong to no job. Which one a device gets depends on its labels. A device that is out gets the power
-- command of the policy as set-up: the word power beside it tells what that is.
create or replace function weir._fleet_lease_checks(devices int[], n weir.nodes, of_worker int, fence uuid,
  lease interval, t timestamptz)
returns int
language plpgsql
set search_path = weir, pg_temp
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  made int;
  policy jsonb := (select f.health from weir.fleet_policy f);
  born timestamptz := date_trunc('milliseconds', t);
  stem text := weir._id_prefix(born);
  class int := weir._class('fleet', 0, jsonb_build_object('node', n.name));
begin
  perform pg_current_xact_id();
  with p as materialized (
    select d.id as device, d.serial, c.power,
      h.task -> 'run' || case when c.power is null then '{}'
        else jsonb_build_object('setup', c.power, 'power', true) end as run,
      weir._fleet_span(h.task, 'timeout', '5 min', '1 s', '1 day')
        + weir._fleet_around(jsonb_build_object('setup', c.power)) as lasts,
      (stem || lpad(to_hex(p.ordinality & 4095), 3, '0') || substr(gen_random_uuid()::text, 19))::uuid as task
    from unnest(_fleet_lease_checks.devices) with ordinality p (device)
      join weir.devices d on d.id = p.device,
      lateral (select weir._health_task(policy, d.serial, d.labels) as task offset 0) h,
      lateral (select case when d.health = 'quarantined' then nullif(h.task -> 'power', 'null') end as power) c
  ), r as (
    -- As in weir._fleet_lease_units.
    insert into weir.running (task, token, claimed_at, until, worker, attempt, deadline, node, class, device)
    select p.task, fence, t, t + lease, of_worker, 1, t + p.lasts, n.id, class, p.device from p
    on conflict (device) where device is not null do nothing
    returning task
  ), k as materialized (
    select p.* from p join r on r.task = p.task
  ), d as (
    update weir.devices d set check_at = null from k where d.id = k.device
  ), q as (
    insert into weir.tasks (id, order_seq, class, position, max_attempts, key, params, timeout, run)
    select k.task, nextval('weir.order_seq'), class, 0, 1, 'health ' || k.serial, '{}', k.lasts, k.run from k
  ), e as (
    insert into weir.events (at, type, worker, attempt, tasks, data)
    select x.at, x.type, x.worker, x.attempt, x.tasks, x.data from (
      select 1 as n, born as at, 'submitted' as type, null::int as worker, null::smallint as attempt,
        array_agg(k.task) as tasks, null::jsonb as data
      from k having count(*) > 0
      union all
      select 2, t, 'claimed', of_worker, 1::smallint, array_agg(k.task),
        jsonb_build_object('devices', jsonb_object_agg(k.task, k.serial))
      from k having count(*) > 0
    ) x order by x.n
  ), w as (
    insert into weir.events (at, type, kind, subject, message, data)
    select t, 'power', 'device', k.serial, 'its power command runs before its health task',
      jsonb_build_object('evidence', jsonb_build_array(k.task))
    from k where k.power is not null order by k.serial
  )
  select count(*) into made from k;
  return made;
end $$;
comment on function weir._fleet_lease_checks is 'Health tasks that run.';
