-- Ends a task that nobody works on without running it, for somebody who knows how it ends: done with a result, failed,
-- or skipped. What depends on a skipped task is skipped too, unless it passes: then it goes on as if it were done. Done
-- and failed count as an attempt.
create or replace function weir.decide(task uuid, outcome text, result jsonb default null, cause text default null,
  passes boolean default false, by text default null, at timestamptz default null) returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(decide.at);
  was record;
begin
  if decide.outcome is null or decide.outcome not in ('done', 'failed', 'skipped') then
    perform weir._invalid('outcome', 'done, failed or skipped', hint => 'to cancel it, use weir.cancel');
  end if;
  if decide.outcome <> 'done' and coalesce(decide.cause, '') = '' then
    perform weir._invalid('cause', 'say why it is %s', jsonb_build_array(decide.outcome));
  end if;
  if decide.passes and decide.outcome <> 'skipped' then
    perform weir._invalid('passes', 'only what is skipped can let others pass');
  end if;
  select * into was from weir._remove_waiting(decide.task);
  if was.was is null then
    if weir._state_of(decide.task) is null then
      perform weir._not_found('task', decide.task::text);
    end if;
    return false;
  end if;
  delete from weir.edges e where e.task = decide.task;
  perform weir._close(array[weir._finished_row(decide.task, t,
    (was.p).attempt + case when decide.outcome = 'skipped' then 0 else 1 end, decide.outcome::weir.state,
    cause => case when decide.outcome <> 'done' then weir._text(decide.cause) end,
    passes => nullif(decide.passes, false),
    opened_at => case when was.was = 'available' then (was.p).since end,
    result => case when decide.outcome = 'done' then decide.result end)], decide.by);
  perform weir._after_end(array[decide.task], array_remove(array[(was.p).lane], null),
    array_remove(array[(was.p).pool], null), t);
  return true;
end $$;
comment on function weir.decide is
  'Ends a waiting task as done, failed or skipped without running it. False: it does not wait any more.';
