-- Cancels a task. What waits ends at once (canceled). What runs is asked to stop: its worker hears of it, stops and confirms (requested).
create or replace function weir.cancel(task uuid, by text default null, reason text default null, at timestamptz default null) returns text
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := coalesce(cancel.at, clock_timestamp());
  note text := concat_ws(': ', 'canceled by ' || coalesce(cancel.by, session_user::text), cancel.reason);
  state weir.state;
  r weir.running;
  was record;
begin
  -- A claim or an expiry may move the task while we look: look again, a few times.
  for i in 1..3 loop
    select * into was from weir._take(cancel.task);
    if was.was is not null then
      perform weir._close(array[row(cancel.task, t, null, null, (was.p).attempt, 'canceled', null, null, null, note)::weir.finished]);
      delete from weir.edges e where e.task = cancel.task;
      perform weir._after(array[cancel.task], array_remove(array[(was.p).lane], null), array_remove(array[(was.p).pool], null), t);
      return 'canceled';
    end if;
    update weir.running x set cancel_at = coalesce(x.cancel_at, t), cancel_note = coalesce(x.cancel_note, note) where x.task = cancel.task returning x.* into r;
    if found then
      if r.cancel_at = t then
        insert into weir.events (at, type, worker, attempt, job, task, source, message) values (t, 'cancel_requested', r.worker, r.attempt, r.job, r.task, cancel.by, note);
        perform pg_notify('weir_cancel', cancel.task::text);
      end if;
      return 'requested';
    end if;
    state := weir._state_of(cancel.task);
    exit when state is null or state in ('done', 'failed', 'canceled', 'skipped');
  end loop;
  if state is null then
    perform weir._not_found('task', cancel.task::text);
  elsif state <> 'canceled' then
    perform weir._refuse_state(cancel.task, 'canceled', state, 'it has already ended');
  end if;
  return 'canceled';
end $$;
comment on function weir.cancel is 'Cancels a task: canceled, or requested when a worker must stop first.';
