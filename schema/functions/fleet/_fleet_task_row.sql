-- Writes to fleet.tasks. An insert submits a fleet job for all devices, unless it names a target. A job without a run
-- is for runners that know from the payload what to do. Which one is ACTIVE is decided here and by nobody else, so of
-- the status only cancelled can be set.
create or replace function weir._fleet_task_row() returns trigger
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
declare
  spec jsonb := '{}';
  made uuid;
begin
  if tg_op = 'DELETE' then
    perform weir._invalid(null, 'delete of fleet.tasks: history goes by its age',
      hint => 'to stop a task: update fleet.tasks set status = ''cancelled'' where id = …');
  end if;
  if tg_op = 'UPDATE' then
    if new.status = 'cancelled' and old.status in ('pending', 'running')
      and to_jsonb(new) - 'status' = to_jsonb(old) - 'status' then
      perform weir.fleet_cancel(old.id, session_user::text);
    elsif new is distinct from old then
      perform weir._invalid(null,
        'update of fleet.tasks: a task is a snapshot, and only its status can become cancelled, while it has not ended',
        hint => 'the oldest task is running by itself when the one before has ended; submit another one for what '
          'should be different');
    end if;
    return new;
  end if;
  if new.id is not null then
    perform weir._invalid('id', 'it is given by Weir', hint => 'leave id out and read it back: INSERT … RETURNING id');
  end if;
  if coalesce(new.status, 'pending') <> 'pending' or new.started_at is not null or new.completed_at is not null
    or new.error is not null then
    perform weir._invalid('status', 'a task begins pending',
      hint => 'leave out status and all that tells how it went; the oldest one is running by itself');
  end if;
  if coalesce(jsonb_typeof(new.config), 'object') <> 'object' then
    perform weir._invalid('config', 'expected an object',
      hint => 'the fields of a fleet job, for example {"run": {"argv": ["./test.sh"]}, "backoff": "10s"}');
  end if;
  spec := jsonb_build_object('run', jsonb_build_object('driver', 'runner'), 'target', jsonb_build_object('all', true))
    || coalesce(new.config, '{}')
    || jsonb_strip_nulls(jsonb_build_object('target', new.target, 'priority', new.priority,
        'attempts', new.max_attempts, 'timeout', trim_scale(extract(epoch from new.timeout)) || 's'))
    || case when new.payload is null then '{}' else jsonb_build_object('params', new.payload) end;
  made := weir.fleet_submit(coalesce(new.name, 'task'), spec, coalesce(new.created_by, session_user::text));
  select * into new from fleet.tasks x where x.id = made;
  return new;
end $$;
comment on function weir._fleet_task_row is 'Submits what is inserted into fleet.tasks.';
