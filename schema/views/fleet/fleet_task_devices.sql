-- Runs on devices as the device queue had them, and the single truth of them: one row per run, made when a PC claims
-- it. What a task wants besides is not made yet.
-- status        pending (it will be tried again) | running | completed | failed (FAILED_FINAL: attempt >= max_attempts)
-- | cancelled   attempt       the number of the last try; reports name it
-- max_attempts  tries that it has, with those that were not its fault; of a run that failed for good earlier, the tries
-- that it had   error         of the last try that failed; a timeout says so: Task device timeout: exceeded 20 minutes
--   timeout_at    when this try ends as a timeout
-- One part per place and status, so that a filter by status reads only those; units follow at commit, so their state
-- says no more than that. A health task has no task_id, and is here while it runs. Ask by id, task_id, device_id or
-- status.
create or replace view fleet.task_devices as
select s.id, s.job as task_id, s.device as device_id, d.serial as device_serial,
  coalesce(d.target, d.serial) as device_target, n.name as pc_id, s.status, s.attempt::int as attempt,
  case when s.status = 'failed' then least(m.attempts, s.attempt) else m.attempts end::int as max_attempts,
  case s.status
    when 'failed' then coalesce((
      select weir._fleet_timeout(e.data ->> 'reason', coalesce(j.timeout, q.timeout))
      from weir.events e where e.task = s.id and e.type = 'failed' order by e.seq desc limit 1), s.cause)
    when 'cancelled' then s.cause
    when 'pending' then (
      select coalesce(weir._fleet_timeout(e.data ->> 'reason', coalesce(j.timeout, q.timeout)), e.message)
      from weir.events e where e.task = s.id and e.type in ('retrying', 'expired', 'returned')
      order by e.seq desc limit 1) end as error,
  q.params as config, q.run, s.result, s.until as lease_expires_at, s.cancel_at is not null as cancel_requested,
    s.started_at, s.deadline as timeout_at, s.at as completed_at, weir._id_time(s.id) as created_at
from (
  select r.task as id, r.job, r.device, r.node, 'running' as status, r.attempt, r.claimed_at as started_at, r.until,
    r.deadline, r.cancel_at, null::timestamptz as at, null::text as cause, null::jsonb as result
  from weir.running r where r.device is not null
  union all
  select u.task, u.job, u.device, null, 'pending', p.attempt, null, null, null, null, null, null, null
  from weir.fleet_units u join weir.pending p on p.task = u.task where u.state in ('running', 'retrying')
  union all
  select u.task, u.job, u.device, null, 'pending', a.attempt, null, null, null, null, null, null, null
  from weir.fleet_units u join weir.tasks q on q.id = u.task
  join weir.available a on a.class in (q.class, -q.class) and a.order_seq = q.order_seq and a.position = q.position
  where u.state in ('running', 'retrying')
  union all
  select u.task, u.job, u.device, (select w.node from weir.workers w where w.id = f.worker), 'completed', f.attempt,
    f.started_at, null, null, null, f.at, f.cause, f.result
  from weir.fleet_units u join weir.finished f on f.task = u.task where f.outcome = 'done'
  union all
  select u.task, u.job, u.device, (select w.node from weir.workers w where w.id = f.worker), 'failed', f.attempt,
    f.started_at, null, null, null, f.at, f.cause, f.result
  from weir.fleet_units u join weir.finished f on f.task = u.task where f.outcome = 'failed'
  union all
  select u.task, u.job, u.device, (select w.node from weir.workers w where w.id = f.worker), 'cancelled', f.attempt,
    f.started_at, null, null, null, f.at, f.cause, f.result
  from weir.fleet_units u join weir.finished f on f.task = u.task where f.outcome in ('canceled', 'skipped')
) s
join weir.tasks q on q.id = s.id
left join weir.fleet_jobs j on j.job = s.job
left join weir.devices d on d.id = s.device
left join weir.nodes n on n.id = coalesce(s.node, d.node)
left join weir.forgiven g on g.task = s.id,
  lateral (select coalesce(q.max_attempts, 3) + coalesce(g.crashes + g.returns, 0) as attempts) m;
comment on view fleet.task_devices is 'Runs on devices, each with its attempt.';

create or replace trigger write instead of insert or update or delete on fleet.task_devices for each row
  execute function weir._flow_refuse('fleet.claim_task_devices_for_pc, renew_task_device_lease, complete_task_device '
    'and fail_or_retry_task_device');
