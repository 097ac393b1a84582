-- Whether any task of a job is pending or available.
create or replace function weir._has_waiting(of_job uuid) returns boolean
language sql stable
set search_path = weir, pg_temp
set jit = off
as $$
  select exists (select from weir.tasks q where q.job = of_job and weir._state_of(q.id) in ('pending', 'available'))
$$;
comment on function weir._has_waiting is 'Whether a job has tasks that nobody works on.';
