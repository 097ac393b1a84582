-- The infrastructure broke an attempt, whose lease was just removed: no attempt of the test is spent, but one of the
-- infrastructure's own. The retry goes where the job says: to the same device, to another one, or to one of another PC;
-- where it has been is carried along. A health task comes again, unless it has a power command: then it has failed.
-- True: the task ended.
create or replace function weir._fleet_fail_infrastructure(r weir.running, error text, harmless boolean, t timestamptz)
returns boolean
language plpgsql
set search_path = weir, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  u weir.fleet_units;
  j weir.fleet_jobs;
begin
  if r.cancel_at is not null then
    perform weir._close(array[weir._finished_lease(r, 'canceled', r.cancel_note, t)]);
    return true;
  end if;
  insert into weir.forgiven as g (task, returns) values (r.task, 1)
  on conflict (task) do update set returns = g.returns + 1;
  update weir.fleet_units x set infra = x.infra + 1, harmless = _fleet_fail_infrastructure.harmless
  where x.task = r.task returning * into u;
  if not found and exists (select from weir.tasks q where q.id = r.task and q.run ? 'power') then
    perform weir._close(array[weir._finished_lease(r, 'failed', error, t)], reason => 'infrastructure');
    return true;
  elsif u.task is null then
    -- A health task: weir._device_checked sees to it.
    perform weir._give_up_lease(r, 'returned', error, t);
    return false;
  end if;
  select * into j from weir.fleet_jobs x where x.job = u.job;
  if u.infra >= j.infra_attempts then
    perform weir._close(array[weir._finished_lease(r, 'failed',
      format('the infrastructure broke it %s times, at last: %s', u.infra, error), t)],
      reason => 'infrastructure');
    return true;
  end if;
  perform weir._requeue(r, t + weir._backoff(u.infra, j.backoff, null), 'retrying', 'infrastructure: ' || error, t,
    reason => 'infrastructure');
  if j.place <> 'same' then
    update weir.fleet_units x set device = null, excluded = array(select distinct e from unnest(x.excluded || array(
      select d.id from weir.devices d where d.id = r.device or j.place = 'other_pc' and d.node = r.node)) e order by 1)
      where x.job = u.job and x.unit = u.unit;
  end if;
  return false;
end $$;
comment on function weir._fleet_fail_infrastructure is 'One attempt that the infrastructure broke.';
