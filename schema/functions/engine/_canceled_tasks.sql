-- The tasks that end when their job is cancelled: all but those of rule finally, and those too when it is to stop.
create or replace function weir._canceled_tasks(of_job uuid, stops boolean) returns uuid[]
language sql stable
set search_path = weir, pg_temp
set jit = off
as $$
  select array(select q.id from weir.tasks q where q.job = of_job and (stops or q.rule is distinct from 'finally'))
$$;
comment on function weir._canceled_tasks is 'Which tasks of a job its cancel ends.';
