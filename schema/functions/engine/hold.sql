-- Stops a task before it starts, until somebody releases it.
create or replace function weir.hold(task uuid, by text, reason text default null, at timestamptz default null)
returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(hold.at);
  was record;
  p weir.pending;
begin
  perform weir._refuse_owned((select q.job from weir.tasks q where q.id = hold.task));
  if coalesce(hold.by, '') = '' then
    perform weir._invalid('by', 'say who must release it');
  end if;
  select * into was from weir._remove_waiting(hold.task);
  if was.was is null then
    if weir._state_of(hold.task) is null then
      perform weir._not_found('task', hold.task::text);
    end if;
    perform weir._conflict('task %s is %s: it cannot be held', jsonb_build_array(hold.task, weir._state_of(hold.task)),
      hint => 'only a task that waits can be held');
  end if;
  p := was.p;
  p.hold := concat_ws(': ', hold.by, hold.reason);
  -- It stays at a gate that comes before this one.
  if p.gate >= 'hold' then
    p.gate := 'hold';
    p.since := t;
  end if;
  insert into weir.pending select p.*;
  insert into weir.events (at, type, attempt, job, task, source, message, data)
  values (t, 'held', p.attempt, p.job, p.task, hold.by, hold.reason,
    case when was.was = 'available' then jsonb_build_object('opened_at', (was.p).since) end);
  perform weir._after_end('{}', array_remove(array[p.lane], null), array_remove(array[p.pool], null), t);
end $$;
comment on function weir.hold is 'Holds a waiting task until it is released.';
