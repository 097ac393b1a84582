-- Fleet jobs as the device queue had them. INSERT (name, payload, target, priority, max_attempts, timeout, config)
-- submits one, as weir.fleet_submit does; config has the other fields of a fleet job.
-- UPDATE of status to cancelled cancels it.
--   status   pending | running (ACTIVE: at most one in each lane) | success | failed | cancelled
--   payload  what each run gets, its params
create or replace view fleet.tasks as
select j.id, j.name,
  case j.state when 'waiting' then 'pending' when 'done' then 'success' when 'failed' then 'failed'
    when 'canceled' then 'cancelled' when 'active' then 'running' else
    case when j.activated_at is null then 'pending' else 'running' end end as status,
  j.priority, j.spec -> 'params' as payload, j.spec -> 'target' as target,
    coalesce((j.spec ->> 'attempts')::int, 3) as max_attempts,
    coalesce((j.spec ->> 'timeout')::interval, '20 min') as timeout,
  j.spec - array['params', 'target', 'attempts', 'timeout', 'priority'] as config, j.targeted as devices_total,
  j.done as devices_done, j.failed as devices_failed, j.cause as error, j.by as created_by,
  j.created_at, j.activated_at as started_at, j.ended_at as completed_at
from weir.fleet_job j;
comment on view fleet.tasks is 'Fleet jobs. INSERT (name, payload, target, …) submits one: weir.fleet_submit.';

create or replace trigger write instead of insert or update or delete on fleet.tasks for each row
execute function weir._fleet_task_row();
