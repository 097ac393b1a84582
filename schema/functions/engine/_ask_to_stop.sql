-- Asks the workers of running tasks to stop. Asking twice changes nothing. With skip, leases that somebody is just
-- ending are left alone.
-- Returns how many run.
create or replace function weir._ask_to_stop(tasks uuid[], by text, note text, skip boolean, t timestamptz) returns int
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  r weir.running;
  n int := 0;
begin
  if skip then
    tasks := array(select x.task from weir.running x where x.task = any (tasks) for update skip locked);
  end if;
  for r in select * from weir.running x where x.task = any (tasks) order by x.task for update loop
    n := n + 1;
    continue when r.cancel_at is not null;
    update weir.running x set cancel_at = t, cancel_note = note where x.task = r.task;
    insert into weir.events (at, type, worker, attempt, job, task, source, message)
    values (t, 'cancel_requested', r.worker, r.attempt, r.job, r.task, by, note);
    perform pg_notify('weir_cancel', r.task::text);
  end loop;
  return n;
end $$;
comment on function weir._ask_to_stop is 'Marks leases as to be cancelled and tells their workers.';
