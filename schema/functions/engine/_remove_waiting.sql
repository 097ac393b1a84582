-- Removes a task that nobody works on from pending or available, and waits for whoever is just moving it. Returns where
-- it was, or null when it is running, has ended or never existed. The caller puts it where it belongs.
create or replace function weir._remove_waiting(of_task uuid, out was weir.state, out p weir.pending)
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  q weir.tasks;
  a weir.available;
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
    delete from weir.available x
    where x.class in (q.class, -q.class) and x.order_seq = q.order_seq and x.position = q.position
    returning x.* into a;
    if found then
      p.task := a.task;
      p.order_seq := a.order_seq;
      p.class := q.class;
      p.position := a.position;
      p.priority := (select c.priority from weir.classes c where c.id = q.class);
      p.attempt := a.attempt;
      p.gate := 'hold';
      p.since := a.opened_at;
      p.unmet := 0;
      p.broken := false;
      p.rule := q.rule;
      p.lane := a.lane;
      p.rank := q.rank;
      p.exclusive := case when a.lane is not null then coalesce(q.exclusive, false) end;
      p.pool := a.pool;
      p.job := q.job;
      perform weir._left_pool(p.pool);
      was := 'available';
      return;
    end if;
  end loop;
end $$;
comment on function weir._remove_waiting is 'Takes a pending or available task out of its table.';
