-- Builds queued jobs: an array of objects with job, tasks, params, patience (see weir._set_wait_limits) and reuse, the
-- steps that end as they did in the job that this one repeats: key, outcome, result, cause. A job that was built,
-- cancelled or ended meanwhile is left alone. The jobs are locked in the order of their ids, as everywhere, and written
-- together: a thousand schedules may be due at one instant. One that is refused refuses all.
create or replace function weir.workflow_build(builds jsonb, at timestamptz default null) returns int
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  most constant int := 30000;
  t timestamptz := weir._clock(workflow_build.at);
  tasks jsonb;
  params jsonb;
  specs weir.task_spec[];
  of uuid[];    -- the job of each
  jobs uuid[];
  held uuid[];
  b record;
begin
  select array_agg(x.job), jsonb_object_agg(x.job, x.params) into jobs, params
  from jsonb_to_recordset(workflow_build.builds) x (job uuid, params jsonb);
  select coalesce(jsonb_agg(e.task order by x.job, e.n), '[]'), array_agg(x.job order by x.job, e.n) into tasks, of
  from jsonb_to_recordset(workflow_build.builds) x (job uuid, tasks jsonb),
    jsonb_array_elements(case when jsonb_typeof(x.tasks) = 'array' then x.tasks
        else jsonb_build_array(x.tasks) end) with ordinality e (task, n);
  specs := weir._parse(tasks);
  if exists (select from unnest(specs) s where s.key is null) then
    perform weir._invalid('key', 'tasks that join a job need one', hint => 'a repeated call finds them by it');
  end if;
  perform weir._classes(specs, of);
  held := array(select l.job from weir.job_live l where l.job = any (jobs) and l.due is not null and l.cancel_at is null
    order by l.job for update);
  if cardinality(held) = 0 then
    return 0;
  end if;
  if cardinality(held) < cardinality(jobs) then
    specs := array(select specs[o.n] from unnest(of) with ordinality o (job, n) where o.job = any (held) order by o.n);
    of := array(select o.job from unnest(of) with ordinality o (job, n) where o.job = any (held) order by o.n);
  end if;
  for b in select coalesce(min(o.n), 1)::int as first, coalesce(max(o.n), 0)::int as last
    from unnest(held) h (job) left join unnest(of) with ordinality o (job, n) on o.job = h.job group by h.job
  loop
    perform weir._check_needs(specs[b.first:b.last], most => most);
  end loop;
  perform weir._add_to_jobs(specs, of, 0, params, '{}', '{}', t);
  for b in select x.* from jsonb_to_recordset(workflow_build.builds) x (job uuid, patience jsonb, reuse jsonb)
    where x.job = any (held) and (x.patience is not null or x.reuse is not null) order by x.job
  loop
    if b.patience is not null then
      perform weir._set_wait_limits(b.job, b.patience);
    end if;
    perform weir.decide(q.id, r.outcome, result => r.result, cause => r.cause, passes => r.outcome = 'skipped',
      by => 'rerun', at => t)
    from jsonb_to_recordset(b.reuse) r (key text, outcome text, result jsonb, cause text)
    join weir.tasks q on q.job = b.job and q.key = r.key;
  end loop;
  return cardinality(held);
end $$;
comment on function weir.workflow_build is 'Gives queued jobs their tasks.';
