-- Tasks join a job that lives. The first call builds a queued job. needs may name tasks that are there already, whether
-- they have ended or not.
-- params become those of the job, if it has none. Each task has a key; one that is there already is returned as it is,
-- so that a repeated call is harmless.
create or replace function weir.add_tasks(job uuid, tasks jsonb, params jsonb default null, at timestamptz default null)
returns table (key text, task uuid)
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = off
set enable_mergejoin = off
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  most constant int := 30000;
  t timestamptz := weir._clock(add_tasks.at);
  specs weir.task_spec[] := weir._parse(add_tasks.tasks);
  keys text[] := array(select s.key from unnest(specs) with ordinality s order by s.ordinality);
  new_specs weir.task_spec[] := specs;
  l weir.job_live;
  known text[] := '{}';
  known_ids uuid[] := '{}';
  base int := 0;
begin
  if array_position(keys, null) is not null then
    perform weir._invalid('key', 'tasks that join a job need one', hint => 'a repeated call finds them by it');
  end if;
  perform weir._classes(specs, array_fill(add_tasks.job, array[cardinality(specs)]));
  select * into l from weir.job_live x where x.job = add_tasks.job for update;
  if l.job is null and not exists (select from weir.jobs x where x.id = add_tasks.job) then
    perform weir._not_found('job', add_tasks.job::text);
  end if;
  if l.due is null then
    known := array(select distinct k from unnest(keys || array(select n from unnest(specs) s, unnest(s.needs) n)) k);
    known_ids := weir._tasks_by_key(add_tasks.job, known);
    select coalesce(array_agg(k.key), '{}'), coalesce(array_agg(k.id), '{}') into known, known_ids
    from unnest(known, known_ids) k (key, id) where k.id is not null;
    new_specs := array(select s from unnest(specs) s where s.key not in (select unnest(known)));
    base := coalesce((select max(q.position) from weir.tasks q where q.job = add_tasks.job), 0);
  end if;
  if cardinality(new_specs) > 0 or l.due is not null then
    if l.job is null or l.cancel_at is not null then
      perform weir._conflict('job %s %s: nothing can join it',
        jsonb_build_array(add_tasks.job, case when l.job is null then 'has ended' else 'is being canceled' end));
    end if;
    if l.total + cardinality(new_specs) > most then
      perform weir._invalid('tasks', '%s and %s more are over the limit of %s for one job',
        jsonb_build_array(l.total, cardinality(new_specs), most),
        hint => 'give parts of the work to jobs of their own');
    end if;
    perform weir._check_needs(new_specs, known, most);
    known_ids := known_ids
      || weir._add_to_jobs(new_specs, array_fill(l.job, array[cardinality(new_specs)]), base,
        jsonb_build_object(l.job, add_tasks.params), known, known_ids, t);
    known := known || array(select s.key from unnest(new_specs) s);
  end if;
  return query select k.key, x.id from unnest(keys) with ordinality k (key, n)
  join unnest(known, known_ids) x (key, id) on x.key = k.key order by k.n;
end $$;
comment on function weir.add_tasks is 'Adds tasks to a live job, or builds a queued one. Returns the task of each key.';
