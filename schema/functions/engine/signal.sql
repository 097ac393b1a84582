-- Tells a job that something happened outside. Tasks that wait for the event end as done, with the payload as their
-- result; one that begins to wait later finds it. The same signal again changes nothing, another payload is refused,
-- because a task may have gone on with the first. Returns how many tasks it ended.
create or replace function weir.signal(job uuid, event text, payload jsonb default null, by text default null,
  at timestamptz default null)
returns int
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  most constant int := 100;
  t timestamptz := weir._clock(signal.at);
  was weir.signals;
begin
  signal.job := weir._job_of(signal.job);
  if coalesce(signal.event, '') !~ '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$' then
    perform weir._invalid('event', '%L is no name of an event: letters, digits, _ . and -',
      jsonb_build_array(left(signal.event, 120)));
  end if;
  if pg_column_size(signal.payload) > 256 * 1024 then
    perform weir._invalid('payload',
      '%s bytes are over the limit of 256 KiB; put the data in a bucket and pass its key',
      jsonb_build_array(pg_column_size(signal.payload)));
  end if;
  perform from weir.job_live j where j.job = signal.job for update;
  if not found then
    if not exists (select from weir.jobs j where j.id = signal.job) then
      perform weir._not_found('job', signal.job::text);
    end if;
    select * into was from weir.signals s where s.job = signal.job and s.event = signal.event;
    if found and was.payload is not distinct from signal.payload then
      return 0;
    end if;
    perform weir._conflict('job %s has ended', jsonb_build_array(signal.job));
  end if;
  select * into was from weir.signals s where s.job = signal.job and s.event = signal.event;
  if found and was.payload is distinct from signal.payload then
    perform weir._conflict('the event %L came already, at %s, with another payload',
      jsonb_build_array(signal.event, weir._instant(was.at)));
  end if;
  if not found then
    if (select count(*) from weir.signals s where s.job = signal.job) >= most then
      perform weir._raise('WR429', 'event', 'the job has %s events already', jsonb_build_array(most));
    end if;
    insert into weir.signals (job, event, payload, by, at)
    values (signal.job, signal.event, signal.payload, signal.by, t);
    insert into weir.events (at, type, kind, subject, job, source, message)
    values (t, 'signaled', 'job', signal.job::text, signal.job, signal.by, signal.event);
  end if;
  return weir._give_signals(signal.job, t);
end $$;
comment on function weir.signal is 'Gives a job an event from outside; tasks that wait for it are done.';
