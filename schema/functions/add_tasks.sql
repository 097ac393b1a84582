-- Tasks join a job that lives. The first call builds a queued job. needs may name tasks that are there already, whether they have ended or not.
-- params become those of the job, if it has none. Each task has a key; one that is there already is returned as it is, so that a repeated call is harmless.
create or replace function weir.add_tasks(job uuid, tasks jsonb, params jsonb default null, at timestamptz default null) returns table (key text, task uuid)
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  most constant int := 30000;
  t timestamptz := weir._clock(add_tasks.at);
  specs weir.task_spec[] := weir._parse(add_tasks.tasks);
  keys text[] := array(select s.key from unnest(specs) with ordinality s order by s.ordinality);
  new_specs weir.task_spec[] := specs;
  j weir.jobs;
  l weir.job_live;
  known text[] := '{}';
  known_ids uuid[] := '{}';
  base int := 0;
  made record;
begin
  if array_position(keys, null) is not null then
    perform weir._invalid('key: tasks that join a job need one', 'a repeated call finds them by it');
  end if;
  -- Classes before the job: whoever makes the same class at this moment may wait for the job.
  insert into weir.classes (service, priority, labels)
  select distinct s.service, coalesce(s.priority, b.priority), coalesce(s.labels, '{}') from unnest(specs) s, weir.jobs b
  where b.id = add_tasks.job and not exists (select from weir.classes c where c.service = s.service and c.priority = coalesce(s.priority, b.priority) and c.labels = coalesce(s.labels, '{}'))
  order by 1, 2, 3
  on conflict do nothing;
  select * into l from weir.job_live x where x.job = add_tasks.job for update;
  select * into j from weir.jobs x where x.id = add_tasks.job;
  if j.id is null then
    perform weir._not_found('job', add_tasks.job::text);
  end if;
  if l.due is null then
    known := array(select distinct k from unnest(keys || array(select n from unnest(specs) s, unnest(s.needs) n)) k);
    known_ids := weir._with_keys(j.id, known);
    select coalesce(array_agg(k.key), '{}'), coalesce(array_agg(k.id), '{}') into known, known_ids from unnest(known, known_ids) k (key, id) where k.id is not null;
    new_specs := array(select s from unnest(specs) s where s.key not in (select unnest(known)));
    base := coalesce((select max(q.position) from weir.tasks q where q.job = j.id), 0);
  end if;
  if cardinality(new_specs) > 0 or l.due is not null then
    if l.job is null or l.cancel_at is not null then
      raise exception using errcode = 'WR409', message = format('job %s %s: nothing can join it', j.id, case when l.job is null then 'has ended' else 'is being canceled' end);
    end if;
    if l.total + cardinality(new_specs) > most then
      perform weir._invalid(format('tasks: %s and %s more are over the limit of %s for one job', l.total, cardinality(new_specs), most), 'give parts of the work to jobs of their own');
    end if;
    perform weir._check_needs(new_specs, known, most);
    update weir.job_live x set total = x.total + cardinality(new_specs), due = null, note = null where x.job = j.id;
    update weir.jobs x set total = x.total + cardinality(new_specs), params = coalesce(x.params, add_tasks.params) where x.id = j.id;
    if l.due is not null then
      insert into weir.events (at, type, kind, subject, job, message) values (t, 'built', 'job', j.id, j.id, format('%s tasks', cardinality(new_specs)));
    end if;
    select * into made from weir._grow(new_specs, j, base, known, known_ids, t);
    if cardinality(made.lanes) > 0 or cardinality(made.pools) > 0 then
      perform weir._open(made.lanes, made.pools, t);
    end if;
    perform pg_notify('weir_available', '');
    known := known || array(select s.key from unnest(new_specs) s);
    known_ids := known_ids || made.ids;
  end if;
  return query select k.key, x.id from unnest(keys) with ordinality k (key, n) join unnest(known, known_ids) x (key, id) on x.key = k.key order by k.n;
end $$;
comment on function weir.add_tasks is 'Adds tasks to a live job, or builds a queued one. Returns the task of each key.';
