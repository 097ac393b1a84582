-- Whether an attempt of a task was taken from a PC, and not ended by its report: the lease ran out, the timeout did, or
-- the device was lost. The PC may not know that yet.
create or replace function weir._fleet_attempt_revoked(of_task uuid, of_node int, from_attempt int, to_attempt int)
returns boolean
language sql stable
set search_path = weir, pg_temp
as $$
  select exists (
    select from weir.events e join weir.workers w on w.id = e.worker
    where e.task = of_task and w.node = of_node and e.attempt between from_attempt and to_attempt
      and (e.type in ('expired', 'returned')
        or e.type = 'retrying' and e.data ->> 'reason' in ('timeout', 'infrastructure')
        or e.type = 'failed' and e.data ->> 'reason' = 'timeout'))
$$;
comment on function weir._fleet_attempt_revoked is 'Was an attempt ended behind the back of a PC?';
