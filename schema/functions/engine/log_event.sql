-- Adds an event to the timeline for a client that has leased nothing: a scheduler, a service. It is about a task, a
-- job, or neither; task alone names its job as well. Jobs may be named by the id that the client gave them. source says
-- which program it is; left out, the role that calls.
-- The names of what the engine itself tells are taken, so that no client can write a state into the timeline.
create or replace function weir.log_event(level text, type text, message text default null, data jsonb default null,
  job uuid default null, task uuid default null, source text default null, at timestamptz default null)
returns bigint
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(log_event.at);
  of_job uuid := weir._job_of(log_event.job);
  owner uuid;
  number bigint;
begin
  if coalesce(log_event.type, '') = '' or length(log_event.type) > 100
    or exists (select from weir.transition x where x.event = log_event.type)
    or log_event.type in ('stale', 'started', 'submitted', 'built', 'planned', 'split', 'relabeled', 'log', 'artifact')
  then
    perform weir._invalid('type', '%L is not a name for an event of your own', jsonb_build_array(log_event.type),
      hint => 'the names of transitions belong to the engine');
  end if;
  if coalesce(log_event.level, 'info') not in ('debug', 'info', 'warn', 'error') then
    perform weir._invalid('level', 'debug, info, warn or error');
  end if;
  if pg_column_size(log_event.data) > 65536 then
    perform weir._invalid('data', 'over 64 KiB; put it into an artifact or the log');
  end if;
  perform weir._check(weir._bad_text('source', log_event.source), weir._bad_time('at', t));
  if log_event.task is not null then
    select q.job into owner from weir.tasks q where q.id = log_event.task;
    if not found then
      perform weir._not_found('task', log_event.task::text);
    end if;
    if of_job <> owner or of_job is not null and owner is null then
      perform weir._invalid('job', 'task %s is not of this job', jsonb_build_array(log_event.task),
        hint => 'leave job out: the task names it');
    end if;
    of_job := owner;
  elsif of_job is not null and not exists (select from weir.jobs j where j.id = of_job) then
    perform weir._not_found('job', log_event.job::text);
  end if;
  insert into weir.events (at, type, kind, subject, job, task, source, level, message, data)
  values (t, log_event.type, case when log_event.task is null then 'note' end,
    case when log_event.task is null then coalesce(of_job::text, log_event.source, session_user::text) end, of_job,
    log_event.task, coalesce(log_event.source, session_user::text), nullif(log_event.level, 'info'),
    weir._text(log_event.message), log_event.data)
  returning seq into number;
  return number;
end $$;
comment on function weir.log_event is
  'Adds an event to the timeline without a lease: about a job, a task or neither. Returns its number.';
