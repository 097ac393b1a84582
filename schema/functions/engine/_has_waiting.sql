-- Whether any task of a job is pending or available that its cancel ends (weir._canceled_tasks).
create or replace function weir._has_waiting(of_job uuid, stops boolean default true) returns boolean
language sql stable
set search_path = weir, pg_temp
set jit = off
as $$
  select exists (select from unnest(weir._canceled_tasks(of_job, stops)) q
    where weir._state_of(q) in ('pending', 'available'))
$$;
comment on function weir._has_waiting is 'Whether a job has tasks that nobody works on and that its cancel ends.';
