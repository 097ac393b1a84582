-- The rollout of the task that a command is about, with the lock of its commands.
create or replace function weir._rollout_of(task uuid) returns weir.rollouts
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  id uuid := (select x.rollout from weir.rollout_tasks x where x.task = _rollout_of.task);
begin
  if id is null then
    perform weir._not_found('task of a rollout', _rollout_of.task::text);
  end if;
  return weir._rollout(id);
end $$;
comment on function weir._rollout_of is 'The rollout of a task, or WR404.';
