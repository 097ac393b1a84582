-- A worker adds to the timeline of a task it has leased: progress (data {"percent": 40}), or a note of its own type.
create or replace function weir.record(task uuid, attempt int, token uuid, type text, message text default null,
  data jsonb default null, level text default null, at timestamptz default null) returns text
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(record.at);
  r weir.running;
begin
  perform weir._check_note(record.type, record.data, record.level);
  select * into r from weir.running x
  where x.task = record.task and x.attempt = record.attempt and x.token = record.token;
  if not found then
    return (select refusal
      from weir._refuse('record', array[record.task], array[record.attempt], array[record.token], null, null, t));
  end if;
  insert into weir.events (at, type, worker, attempt, job, task, level, message, data)
  values (t, record.type, r.worker, r.attempt, r.job, r.task, nullif(record.level, 'info'), weir._text(record.message),
    record.data);
  return 'ok';
end $$;
comment on function weir.record is 'Adds an event to a leased task: ok, lease_lost or unknown.';
