-- A job: tasks that may need one another, in one global order. Refused whole when a need is missing, a key is doubled
-- or the needs form a ring.
-- What follows hint says what the job is a run of, as weir.open_job takes it; null for a job that stands for itself.
create or replace function weir.submit_job(tasks jsonb, name text, kind text default 'job', priority int default 0,
  params jsonb default null, idempotency_key text default null, trace text default null, hint boolean default true,
  definition uuid default null, schedule text default null, parent uuid default null, origin uuid default null,
  options jsonb default null, scheduled_at timestamptz default null, at timestamptz default null)
returns uuid
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(submit_job.at);
  specs weir.task_spec[] := weir._parse(submit_job.tasks);
  id uuid := weir._id(t);
  was uuid;
  seq bigint;
begin
  if coalesce(submit_job.name, '') = '' then
    perform weir._invalid('name', 'a job needs a name');
  end if;
  submit_job.kind := coalesce(submit_job.kind, 'job');
  if coalesce(submit_job.priority, 1000) not between -100 and 100 then
    perform weir._invalid('priority', '%s is outside -100 .. 100', jsonb_build_array(submit_job.priority));
  end if;
  perform weir._check(weir._bad_time('scheduled_at', submit_job.scheduled_at),
    weir._bad_text('name', submit_job.name, 500), weir._bad_text('kind', submit_job.kind),
    weir._bad_text('schedule', submit_job.schedule), weir._bad_text('idempotency_key', submit_job.idempotency_key, 500),
    weir._bad_text('trace', submit_job.trace, 1000));
  perform weir._check_needs(specs);
  if submit_job.idempotency_key is not null then
    -- A run of a workflow is asked for by its options: its tasks and params follow from them and from the newest
    -- definition.
    was := weir._take_key(submit_job.idempotency_key, id,
      case when submit_job.schedule is null then jsonb_build_object('name', submit_job.name, 'kind', submit_job.kind)
      || case
        when submit_job.definition is not null then
          jsonb_build_object('options', coalesce(submit_job.options - 'by', '{}'))
        else jsonb_build_object('priority', submit_job.priority, 'params', submit_job.params,
          'tasks', (select jsonb_agg(encode(weir._body_hash(specs[n]), 'hex') order by n)
            from generate_subscripts(specs, 1) n)) end end);
    if was <> id then
      return was;
    end if;
  end if;
  perform pg_current_xact_id();
  seq := nextval('weir.order_seq');
  insert into weir.jobs (id, created_at, order_seq, kind, name, priority, total, params, trace, definition, schedule,
    parent, origin, options, scheduled_at)
  values (id, t, seq, submit_job.kind, submit_job.name, submit_job.priority, cardinality(specs), submit_job.params,
    submit_job.trace, submit_job.definition, submit_job.schedule, submit_job.parent, submit_job.origin,
    submit_job.options, submit_job.scheduled_at);
  insert into weir.job_live (job, total, definition, schedule, parent)
  values (id, cardinality(specs), submit_job.definition, submit_job.schedule, submit_job.parent);
  insert into weir.events (at, type, kind, subject, job, message)
  values (t, 'submitted', 'job', id, id, submit_job.name);
  perform weir._submit(specs, id, seq, t, submit_job.priority, submit_job.trace);
  if hint then
    perform weir._hint(specs);
  end if;
  return id;
end $$;
comment on function weir.submit_job is
  'Submits a job and returns its id. Each task is an object with the fields of weir.task_spec; needs name the keys of '
  'other tasks.';
