-- Removes a task that nobody works on from pending or available, and waits for whoever is just moving it. Returns where it was, or null
-- when it is running, has ended or never existed. The caller puts it where it belongs.
create or replace function weir._remove_waiting(of_task uuid, out was weir.state, out p weir.pending)
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  q weir.tasks;
begin
  select * into q from weir.tasks x where x.id = of_task;
  -- The job comes before its tasks: see weir._settle.
  perform from weir.job_live j where j.job = q.job for update;
  -- Two looks: a task seen in neither place may have moved between them.
  for i in 1..2 loop
    delete from weir.pending x where x.task = of_task returning x.* into p;
    if found then
      was := 'pending';
      return;
    end if;
    delete from weir.available a where a.class in (q.class, -q.class) and a.order_seq = q.order_seq and a.position = q.position
    returning a.task, a.order_seq, q.class, a.position, (select c.priority from weir.classes c where c.id = q.class), a.attempt, 'hold', a.opened_at, 0, false, q.rule, null,
      null, a.lane, q.rank, case when a.lane is not null then coalesce(q.exclusive, false) end, a.pool, q.job, null into p;
    if found then
      perform weir._left_pool(p.pool);
      was := 'available';
      return;
    end if;
  end loop;
end $$;
comment on function weir._remove_waiting is 'Takes a pending or available task out of its table.';
