-- Refuses a command that a task's state does not allow.
create or replace function weir._refuse_state(task uuid, command text, state weir.state, hint text) returns void
language plpgsql
as $$
begin
  raise exception using errcode = 'WR409', message = format('task %s is %s: it cannot be %s', task, state, command), hint = hint;
end $$;
comment on function weir._refuse_state is 'Raises WR409.';
