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
  if coalesce(record.type, '') = '' or length(record.type) > 100
    or exists (select from weir.transition x where x.event = record.type) or record.type in ('stale', 'started') then
    perform weir._invalid('type', '%L is not a name for an event of your own', jsonb_build_array(record.type),
      hint => 'the names of transitions belong to the engine');
  end if;
  if coalesce(record.level, 'info') not in ('debug', 'info', 'warn', 'error') then
    perform weir._invalid('level', 'debug, info, warn or error');
  end if;
  if pg_column_size(record.data) > 65536 then
    perform weir._invalid('data', 'over 64 KiB; put it into an artifact or the log');
  end if;
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
