-- Makes the tasks of units and leases them to a PC, in one step: they are never seen waiting. A unit that was canceled
-- or missed at this moment is left out.
create or replace function weir._fleet_lease_units(picks weir.fleet_units[], n weir.nodes, of_worker int, fence uuid,
  lease interval, t timestamptz)
returns int
language plpgsql
set search_path = weir, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  made int;
  j weir.fleet_jobs;
  -- As weir._submit: the time of the event is that of the ids.
  born timestamptz := date_trunc('milliseconds', t);
  stem text := weir._id_prefix(born);
  class int;
  lasts interval;
  run jsonb;
begin
  select * into j from weir.fleet_jobs x where x.job = (picks[1]).job;
  lasts := j.timeout + weir._fleet_around(j.spec);
  run := weir._fleet_run(j.spec);
  class := weir._class('fleet', j.priority, jsonb_build_object('node', n.name));
  perform pg_current_xact_id(); -- before it takes numbers: see weir._submit
  with p as materialized (
    select p.unit, p.device,
      (stem || lpad(to_hex(p.ordinality & 4095), 3, '0') || substr(gen_random_uuid()::text, 19))::uuid as id
    from unnest(picks) with ordinality p where p.job = j.job
  ), w as materialized (
    -- A claim never waits for who cancels or ends the job: they may wait for what it holds.
    select p.*
    from p,
      lateral (select from weir.fleet_units u
        where u.job = j.job and u.unit = p.unit and u.state = 'waiting' and u.task is null for update skip locked) u
  ), r as (
    -- A device that moved at this moment may have work of the PC that it left: it is left out.
    insert into weir.running (task, token, claimed_at, until, worker, attempt, deadline, node, class, job, device)
    select w.id, fence, t, t + lease, of_worker, 1, t + lasts, n.id, class, j.job, w.device from w
    on conflict (device) where device is not null do nothing
    returning task
  ), u as (
    update weir.fleet_units u set state = 'running', task = w.id, device = w.device from w join r on r.task = w.id
    where u.job = j.job and u.unit = w.unit
    returning u.task, u.unit, u.round, u.device
  ), k as materialized (
    select u.task, u.unit, d.id as device, d.serial,
      case when j.spec ? 'any' then format('%s#%s', d.serial, u.unit)
        when u.round > 1 then format('%s#%s', d.serial, u.round) else d.serial end as key
    from u join weir.devices d on d.id = u.device
  ), q as (
    insert into weir.tasks (id, order_seq, class, position, max_attempts, job, key, params, timeout, backoff, run)
    select k.task, nextval('weir.order_seq'), class, least(k.unit, 32767), j.max_attempts, j.job, k.key,
      coalesce(nullif(j.spec -> 'params', 'null'), '{}'), lasts, j.backoff, run
    from k
  ), e as (
    insert into weir.events (at, type, worker, attempt, job, tasks, data)
    select x.at, x.type, x.worker, x.attempt, j.job, x.tasks, x.data from (
      select 1 as n, born as at, 'submitted' as type, null::int as worker, null::smallint as attempt,
        array_agg(k.task) as tasks, null::jsonb as data
      from k having count(*) > 0
      union all
      select 2, t, 'claimed', of_worker, 1::smallint, array_agg(k.task),
        jsonb_build_object('devices', jsonb_object_agg(k.task, k.serial))
      from k having count(*) > 0
    ) x order by x.n
  )
  select count(*) into made from k;
  if made = cardinality(picks) then
    return made;
  end if;
  -- Picks of another job come with overlap alone.
  picks := array(select p from unnest(picks) p where p.job <> j.job);
  if cardinality(picks) > 0 then
    made := made + weir._fleet_lease_units(picks, n, of_worker, fence, lease, t);
  end if;
  return made;
end $$;
comment on function weir._fleet_lease_units is 'Units become tasks that run.';
