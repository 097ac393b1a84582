-- Creates or changes a schedule: when (a cron line, @every with an interval, or @at with a time), in which time zone,
-- what to submit (a task, or the newest active version of a workflow with options), and what to do about runs that were
-- missed: skip them, run one, or run all, no further back than catch_up.
-- The coordinator knows cron; it gives the next time. With seen, the changed_at that the caller has read, it is refused
-- if somebody else changed the schedule meanwhile. A single run that is over stays over, also when it is paused and
-- resumed.
create or replace function weir.set_schedule(name text, spec text, task jsonb, next_at timestamptz,
  zone text default 'UTC', missed text default 'one', paused boolean default false,
  by text default null, seen timestamptz default null, workflow text default null, options jsonb default null,
  overlap text default 'allow', catch_up interval default null, jitter interval default null,
  at timestamptz default null)
returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(set_schedule.at);
  was weir.schedules;
  hook regprocedure;
begin
  if coalesce(set_schedule.name, '') = '' or length(set_schedule.name) > 200 then
    perform weir._invalid('name', '1 to 200 characters');
  end if;
  if set_schedule.missed not in ('skip', 'one', 'all') then
    perform weir._invalid('missed', 'skip, one or all');
  end if;
  if set_schedule.overlap not in ('skip', 'queue_one', 'queue_all', 'cancel_running', 'allow') then
    perform weir._invalid('overlap', 'skip, queue_one, queue_all, cancel_running or allow');
  end if;
  -- Infinity as the next time says that there is none, or that it is always due.
  perform weir._check(weir._bad_span('catch_up', set_schedule.catch_up),
    weir._bad_span('jitter', set_schedule.jitter, true),
    weir._bad_time('next_at', case when isfinite(set_schedule.next_at) then set_schedule.next_at end));
  if (set_schedule.task is null) = (set_schedule.workflow is null) then
    perform weir._invalid('task', 'say what to run: a task or a workflow');
  end if;
  if set_schedule.workflow is null then
    perform weir._parse(jsonb_build_array(set_schedule.task));
    hook := weir._hook('scheduled_task', set_schedule.task ->> 'service', 'jsonb, interval');
    if hook is not null then
      execute format('select %s($1, $2)', hook::regproc) using set_schedule.task -> 'params', set_schedule.jitter;
    elsif set_schedule.overlap <> 'allow' then
      perform weir._invalid('overlap', 'only the runs of a workflow can wait for one another',
        hint => 'give the task a unique_key, a lane or a pool');
    end if;
    if set_schedule.options is not null then
      perform weir._invalid('options', 'only a workflow has options', hint => 'a task has params');
    end if;
  elsif not exists (select from weir._definition d where d.name = set_schedule.workflow and d.kept) then
    perform weir._invalid('workflow', 'there is no workflow %L', jsonb_build_array(set_schedule.workflow),
      hint => 'put its definition first');
  elsif jsonb_typeof(set_schedule.options) <> 'object' then
    perform weir._invalid('options', 'expected a JSON object, got %s',
      jsonb_build_array(jsonb_typeof(set_schedule.options)));
  end if;
  if set_schedule.seen is not null then
    perform weir._refuse_stale_edit('schedule', set_schedule.name, set_schedule.seen,
      (select s.changed_at from weir.schedules s where s.name = set_schedule.name for update));
  end if;
  select s.* into was from weir.schedules s where s.name = set_schedule.name;
  insert into weir.schedules as s (name, spec, zone, missed, task, paused, next_at, changed_at, workflow, options,
    overlap, catch_up, jitter)
  values (set_schedule.name, set_schedule.spec, set_schedule.zone, set_schedule.missed, set_schedule.task,
    set_schedule.paused, set_schedule.next_at, t, set_schedule.workflow, set_schedule.options, set_schedule.overlap,
    set_schedule.catch_up, set_schedule.jitter)
  on conflict (name) do update set spec = excluded.spec, zone = excluded.zone, missed = excluded.missed,
    task = excluded.task, paused = excluded.paused, workflow = excluded.workflow, options = excluded.options,
    overlap = excluded.overlap, catch_up = excluded.catch_up, jitter = excluded.jitter,
    next_at = case
      when (s.spec, s.zone) = (excluded.spec, excluded.zone) and (not s.paused or s.spec like '@at %') then s.next_at
      else excluded.next_at end, changed_at = t
  where (s.spec, s.zone, s.missed, s.task, s.paused, s.workflow, s.options, s.overlap, s.catch_up, s.jitter)
    is distinct from (excluded.spec, excluded.zone, excluded.missed, excluded.task, excluded.paused, excluded.workflow,
      excluded.options, excluded.overlap, excluded.catch_up, excluded.jitter);
  if found then
    insert into weir.events (at, type, kind, subject, source, message) values (t, case
      when was.name is null
        or (was.spec, was.zone, was.missed, was.task, was.workflow, was.options, was.overlap, was.catch_up, was.jitter)
        is distinct from (set_schedule.spec, set_schedule.zone, set_schedule.missed, set_schedule.task,
          set_schedule.workflow, set_schedule.options, set_schedule.overlap, set_schedule.catch_up,
          set_schedule.jitter) then
            'set'
      when set_schedule.paused then 'paused'
        else 'resumed' end, 'schedule', set_schedule.name, set_schedule.by, set_schedule.spec);
  end if;
end $$;
comment on function weir.set_schedule is 'Creates or changes a schedule. The same call again changes nothing.';
