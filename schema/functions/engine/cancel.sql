-- Cancels a task. What waits ends at once (canceled). What runs is asked to stop: its worker hears of it, stops and
-- confirms (requested).
create or replace function weir.cancel(task uuid, by text default null, reason text default null,
  at timestamptz default null)
returns text
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(cancel.at);
  note text := weir._note('canceled', cancel.by, cancel.reason);
  state weir.state;
  was record;
  parts uuid[];
begin
  perform weir._check(weir._bad_text('by', cancel.by, 500), weir._bad_text('reason', cancel.reason, 8000));
  perform weir._refuse_owned((select q.job from weir.tasks q where q.id = cancel.task));
  if weir._ask_to_stop(array[cancel.task], cancel.by, note, false, t) > 0 then
    return 'requested';
  end if;
  select * into was from weir._remove_waiting(cancel.task);
  if was.was is not null then
    delete from weir.edges e where e.task = cancel.task;
    perform weir._close(array[weir._finished_row(cancel.task, t, (was.p).attempt, 'canceled', note,
      opened_at => case when was.was = 'available' then (was.p).since end)], cancel.by);
    perform weir._after_end(array[cancel.task], array_remove(array[(was.p).lane], null),
      array_remove(array[(was.p).pool], null), t);
    -- What it was split into is of no use without it.
    parts := array(select unnest(q.awaits) from weir.tasks q where q.id = cancel.task);
    if cardinality(parts) > 0 then
      perform weir._end_waiting(parts, 'canceled', note, t);
      perform weir._ask_to_stop(parts, cancel.by, note, true, t);
    end if;
    perform weir._notify_children(array[cancel.task]);
    return 'canceled';
  end if;
  -- It was claimed since the first look. We may hold its job now, so we do not wait for whoever is just ending it.
  if weir._ask_to_stop(array[cancel.task], cancel.by, note, true, t) > 0 then
    return 'requested';
  end if;
  state := weir._state_of(cancel.task);
  if state is null then
    perform weir._not_found('task', cancel.task::text);
  elsif state = 'running' then
    perform weir._conflict('task %s is ending just now', jsonb_build_array(cancel.task), hint => 'look again');
  elsif state <> 'canceled' then
    perform weir._conflict('task %s is %s: it cannot be canceled', jsonb_build_array(cancel.task, state),
      hint => 'it has already ended');
  end if;
  return 'canceled';
end $$;
comment on function weir.cancel is 'Cancels a task: canceled, or requested when a worker must stop first.';
