-- The row of a task that stands at the gate plan, locked; null when it does not stand there any more. WR404 when there
-- is no such task.
create or replace function weir._lock_at_plan(of_task uuid) returns weir.pending
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  q record;
  p weir.pending;
begin
  select x.id, x.job into q from weir.tasks x where x.id = of_task;
  if not found then
    perform weir._not_found('task', of_task::text);
  end if;
  -- The job comes before its tasks: see weir._settle.
  perform from weir.job_live j where j.job = q.job for update;
  -- Two looks: whoever changes its place takes the row out and puts it back.
  for i in 1..2 loop
    select * into p from weir.pending x where x.task = of_task for update;
    exit when found;
  end loop;
  if p.gate is distinct from 'plan' then
    return null;
  end if;
  return p;
end $$;
comment on function weir._lock_at_plan is 'Locks a task at the gate plan.';
