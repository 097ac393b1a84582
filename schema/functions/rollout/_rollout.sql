-- The rollout that a command is about. Commands about one rollout follow one another: of two clicks the second finds
-- what the first did.
-- The lock comes before all others: nobody who holds a row of the engine waits for it.
create or replace function weir._rollout(id uuid) returns weir.rollouts
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  r weir.rollouts;
begin
  perform pg_advisory_xact_lock(98, hashtext(_rollout.id::text));
  select * into r from weir.rollouts x where x.job = _rollout.id;
  if not found then
    perform weir._not_found('rollout', _rollout.id::text);
  end if;
  return r;
end $$;
comment on function weir._rollout is 'The row of a rollout, with the lock of its commands, or WR404.';
