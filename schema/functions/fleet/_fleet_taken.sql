-- Whether an attempt of a task was taken from a PC, and not ended by its report: the lease ran out, the timeout did, or the device was lost. The PC may not know that yet.
create or replace function weir._fleet_taken(of_task uuid, of_node int, from_attempt int, to_attempt int) returns boolean
language sql stable
set search_path = weir, pg_temp
as $$
  select exists (
    select from weir.events e join weir.workers w on w.id = e.worker, lateral (select q.timeout from weir.tasks q where q.id = of_task offset 0) q
    where e.task = of_task and w.node = of_node and e.attempt between from_attempt and to_attempt
      and (e.type in ('expired', 'returned') or e.type = 'retrying' and (e.message like 'infrastructure: %' or weir._fleet_late(e.message, e.at - (e.data ->> 'claimed_at')::timestamptz, q.timeout) is not null)
        or e.type = 'failed' and weir._fleet_late(e.message, e.at - (select f.started_at from weir.finished f where f.task = of_task), q.timeout) is not null))
$$;
comment on function weir._fleet_taken is 'Was an attempt ended behind the back of a PC?';
