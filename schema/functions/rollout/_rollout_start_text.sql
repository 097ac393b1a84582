-- What a task waits for whose rollout nobody has started. The hold of new tasks, too.
create or replace function weir._rollout_start_text(id uuid) returns text
language sql immutable
as $$ select format('waits to be started: weir rollout run %s', id) $$;
comment on function weir._rollout_start_text is 'The hold of a rollout that was not started.';
