-- A terminal row, with its columns by name. A row is built by position nowhere else, because a column that is added
-- would shift the values of a list that was forgotten. Without settings of its own, so that the planner inlines it.
create or replace function weir._finished_row(task uuid, at timestamptz, attempt int, outcome weir.state,
  cause text default null, started_at timestamptz default null, worker int default null, passes boolean default null,
  opened_at timestamptz default null, result jsonb default null) returns weir.finished
language sql immutable
as $$ select row(task, at, started_at, worker, attempt, outcome, passes, opened_at, result, cause)::weir.finished $$;
comment on function weir._finished_row is 'A terminal row from its columns.';
