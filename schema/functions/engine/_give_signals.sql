-- Ends the tasks of a job that wait for events that came. The caller holds the job.
create or replace function weir._give_signals(of_job uuid, t timestamptz) returns int
language plpgsql
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  given int := 0;
  a record;
begin
  for a in select x.task, s.payload, s.by as source
    from weir.asks x
    join weir.signals s on s.job = x.job and s.event = x.event
    join weir.pending p on p.task = x.task
    where x.job = of_job and x.open and p.gate = 'hold' order by x.task
  loop
    update weir.asks x set open = false where x.task = a.task;
    given := given + weir.decide(a.task, 'done', result => a.payload, by => a.source, at => t)::int;
  end loop;
  return given;
end $$;
comment on function weir._give_signals is 'Ends tasks whose events came.';
