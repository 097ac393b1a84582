-- A job whose tasks are not known yet: it is queued until due (null: now), and weir.add_tasks builds it. It has its
-- place in the global order from now on.
-- id: the one to use, if it is a UUIDv7 of today; null makes one. Any other is what the client knows the job by: the
-- job has an id of ours, which is returned, and weir._job_of finds it. The same one again returns the same job.
-- scheduled_at is the time it stands for; null: due. definition, schedule, origin and options are for whoever builds
-- it. parent is the task that waits for it.
create or replace function weir.open_job(name text, kind text default 'job', priority int default 0,
  params jsonb default null, due timestamptz default null, idempotency_key text default null, trace text default null,
  definition uuid default null, schedule text default null, parent uuid default null, origin uuid default null,
  options jsonb default null, order_seq bigint default null, scheduled_at timestamptz default null,
  id uuid default null, hint boolean default true, at timestamptz default null)
returns uuid
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(open_job.at);
  ours boolean := substr(open_job.id::text, 15, 1) = '7'
    and abs(extract(epoch from weir._id_time(open_job.id) - t)) < 86400;
  new_id uuid := case when ours then open_job.id else weir._id(t) end;
  was uuid;
  starts timestamptz := coalesce(open_job.due, t);
begin
  if coalesce(open_job.name, '') = '' then
    perform weir._invalid('name', 'a job needs a name');
  end if;
  if coalesce(open_job.priority, 1000) not between -100 and 100 then
    perform weir._invalid('priority', '%s is outside -100 .. 100', jsonb_build_array(open_job.priority));
  end if;
  perform weir._check(weir._bad_time('due', starts), weir._bad_time('scheduled_at', open_job.scheduled_at),
    weir._bad_text('name', open_job.name, 500), weir._bad_text('kind', open_job.kind),
    weir._bad_text('schedule', open_job.schedule), weir._bad_text('idempotency_key', open_job.idempotency_key, 500),
    weir._bad_text('trace', open_job.trace, 1000));
  if open_job.parent is not null and not exists (select from weir.tasks q where q.id = open_job.parent) then
    perform weir._not_found('task', open_job.parent::text);
  end if;
  if open_job.idempotency_key is not null then
    -- As in weir.submit_job. What stands for a time, a run of a schedule or one that makes up for it, is made once,
    -- whoever asks and with which options; so is what a trigger starts for one firing.
    was := weir._take_key(open_job.idempotency_key, new_id,
      case when open_job.schedule is null and open_job.idempotency_key !~ '^(schedule|trigger):' then
      jsonb_build_object('name', open_job.name, 'kind', coalesce(open_job.kind, 'job'))
        || case
          when open_job.definition is not null then
            jsonb_build_object('options', coalesce(open_job.options - 'by', '{}'))
        else jsonb_build_object('params', open_job.params, 'options', open_job.options) end end);
    if was <> new_id then
      return was;
    end if;
  end if;
  if not ours then
    insert into weir.given_ids as g (given, job) values (open_job.id, new_id)
    on conflict (given) do update set given = excluded.given returning g.job into was;
    if was <> new_id then
      return was;
    end if;
  end if;
  -- The transaction has its id before it takes a number: see weir._submit.
  perform pg_current_xact_id();
  insert into weir.jobs (id, created_at, order_seq, kind, name, priority, total, params, trace, definition, schedule,
    parent, origin, options, scheduled_at)
  values (new_id, t, coalesce(open_job.order_seq, nextval('weir.order_seq')), coalesce(open_job.kind, 'job'),
    open_job.name, open_job.priority, 0, open_job.params, open_job.trace, open_job.definition, open_job.schedule,
    open_job.parent, open_job.origin, open_job.options, coalesce(open_job.scheduled_at, open_job.due));
  insert into weir.job_live (job, total, due, definition, schedule, parent)
  values (new_id, 0, starts, open_job.definition, open_job.schedule, open_job.parent);
  insert into weir.events (at, type, kind, subject, job, message, data)
  values (t, 'queued', 'job', new_id, new_id, open_job.name,
    jsonb_strip_nulls(jsonb_build_object('due', starts, 'schedule', open_job.schedule, 'parent', open_job.parent,
        'origin', open_job.origin)));
  if hint and starts <= t then
    perform pg_notify('weir_plan', '');
  end if;
  return new_id;
end $$;
comment on function weir.open_job is
  'Opens a job without tasks and returns its id. It is queued until weir.add_tasks builds it.';
