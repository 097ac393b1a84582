-- The terminal row of a task whose lease was just removed.
create or replace function weir._finished_lease(r weir.running, outcome weir.state, cause text, t timestamptz)
returns weir.finished
language sql immutable
as $$
  select weir._finished_row(r.task, t, r.attempt, outcome, cause, started_at => r.claimed_at, worker => r.worker,
    opened_at => r.opened_at)
$$;
comment on function weir._finished_lease is 'The terminal row of a lease that ended.';
