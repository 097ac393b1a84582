-- Since when a task that may run, or runs, has held its lane: for sure not before that. What was handed back has kept
-- its lane, and what stood at a pool held it there; when either passed the lane is not known any more, but it was not
-- there before it was submitted.
create or replace function weir._lane_since(of_task uuid, opened_at timestamptz) returns timestamptz
language sql stable
set search_path = weir, pg_temp
as $$
  select case
    when q.pool is not null or exists (select from weir.forgiven f where f.task = q.id) then weir._id_time(q.id)
    else opened_at end
  from weir.tasks q where q.id = of_task
$$;
comment on function weir._lane_since is 'The earliest time at which a holder of a lane can have passed it.';
