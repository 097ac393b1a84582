-- The jobs that a job is part of, the nearest first, no more than twenty.
create or replace function weir.workflow_ancestors(job uuid) returns table (ancestor uuid, name text, depth int)
language sql stable security definer
set search_path = weir, pg_temp
set jit = off
as $$
  with recursive up as (
    select q.job, 1 as depth from weir.jobs j join weir.tasks q on q.id = j.parent where j.id = workflow_ancestors.job
    union all
    select q.job, up.depth + 1 from up join weir.jobs j on j.id = up.job join weir.tasks q on q.id = j.parent
    where up.depth < 20
  )
  select j.id, j.name, up.depth from up join weir.jobs j on j.id = up.job
$$;
comment on function weir.workflow_ancestors is 'The jobs that wait for this one, directly or not.';
