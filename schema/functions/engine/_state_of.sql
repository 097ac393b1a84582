-- Where a task is now; null when there is no such task.
create or replace function weir._state_of(of_task uuid) returns weir.state
language sql stable
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
as $$
  select case
    when exists (select from weir.pending p where p.task = q.id) then 'pending'
    when exists (select from weir.available a
      where a.class in (q.class, -q.class) and a.order_seq = q.order_seq and a.position = q.position) then
      'available'
    when exists (select from weir.running r where r.task = q.id) then 'running'
    else (select f.outcome from weir.finished f where f.task = q.id)
  end
  from weir.tasks q where q.id = of_task
$$;
comment on function weir._state_of is 'The state of a task.';
