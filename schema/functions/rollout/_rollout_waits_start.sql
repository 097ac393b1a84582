-- What a task waits for whose rollout nobody has started, as a reason. The hold of new tasks, too.
create or replace function weir._rollout_waits_start(id uuid) returns jsonb
language sql immutable
as $$ select jsonb_build_object('code', 'rollout_start', 'do', format('weir rollout run %s', id)) $$;
comment on function weir._rollout_waits_start is 'The hold of a rollout that was not started.';
