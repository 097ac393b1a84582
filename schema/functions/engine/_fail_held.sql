-- Ends a task that is held as failed, without an attempt: what never ran is held again when it is retried. One that is
-- not held, or no longer, is refused.
create or replace function weir._fail_held(of_task uuid, cause text, by text, t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  state weir.state := weir._state_of(of_task);
  was record;
begin
  if state is null then
    perform weir._not_found('task', of_task::text);
  end if;
  select * into was from weir._remove_waiting(of_task);
  if was.was is null or (was.p).hold is null then
    perform weir._conflict('task %s is %s and not held', jsonb_build_array(of_task, state));
  end if;
  delete from weir.edges e where e.task = of_task;
  perform weir._close(array[weir._finished_row(of_task, t, (was.p).attempt, 'failed', weir._text(cause))], by);
  perform weir._after_end(array[of_task], array_remove(array[(was.p).lane], null),
    array_remove(array[(was.p).pool], null), t);
end $$;
comment on function weir._fail_held is 'held → failed without an attempt.';
