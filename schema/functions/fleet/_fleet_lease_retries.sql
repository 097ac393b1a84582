-- Leases retries to a PC. The row in available comes first: who has it may go on, and who cancels the task at this
-- moment has it instead.
create or replace function weir._fleet_lease_retries(picks weir.fleet_units[], n weir.nodes, of_worker int, fence uuid,
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
begin
  with p as materialized (
    select p.job, p.unit, p.device, p.task, q.class, q.order_seq, q.position, q.timeout from unnest(picks) p,
      lateral (select q.class, q.order_seq, q.position, q.timeout from weir.tasks q where q.id = p.task offset 0) q
  ), a as materialized (
    select p.*, a.row, (a.attempt + 1)::smallint as attempt, a.opened_at from p, lateral (
      select a.ctid as row, a.attempt, a.opened_at from weir.available a
      where a.class in (p.class, -p.class) and a.order_seq = p.order_seq and a.position = p.position
      for update skip locked
    ) a
  ), r as (
    -- As in weir._fleet_lease_units.
    insert into weir.running (task, token, claimed_at, until, worker, attempt, deadline, opened_at, node, class, job,
      device)
    select a.task, fence, t, t + lease, of_worker, a.attempt, t + a.timeout, a.opened_at, n.id, a.class, a.job, a.device
    from a
    on conflict (device) where device is not null do nothing
    returning task
  ), g as materialized (
    select a.* from a join r on r.task = a.task
  ), d as (
    delete from weir.available x where x.ctid = any (array(select g.row from g))
  ), u as (
    update weir.fleet_units u set state = 'running', device = g.device, cause = null, harmless = null, unclean = null
    from g
    where u.job = g.job and u.unit = g.unit
  ), e as (
    insert into weir.events (at, type, worker, attempt, job, tasks, data)
    select t, 'claimed', of_worker, g.attempt, g.job, array_agg(g.task),
      jsonb_build_object('devices', jsonb_object_agg(g.task, x.serial))
    from g join weir.devices x on x.id = g.device group by g.attempt, g.job
  )
  select count(*) into made from g;
  return made;
end $$;
comment on function weir._fleet_lease_retries is 'available → running for retries on devices.';
