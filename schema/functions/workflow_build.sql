-- Builds queued jobs: an array of objects with job, tasks, params, patience (see weir._be_patient) and reuse, the steps that end as they did in the job that this one
-- repeats: key, outcome, result, cause. A job that was built, cancelled or ended meanwhile is left alone. Jobs in the order of their ids, as everywhere.
create or replace function weir.workflow_build(builds jsonb, at timestamptz default null) returns int
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workflow_build.at);
  built int := 0;
  b record;
begin
  for b in select x.* from jsonb_to_recordset(workflow_build.builds) x (job uuid, tasks jsonb, params jsonb, patience jsonb, reuse jsonb) order by x.job loop
    perform from weir.job_live l where l.job = b.job and l.due is not null and l.cancel_at is null for update;
    continue when not found;
    perform from weir.add_tasks(b.job, b.tasks, params => b.params, at => t);
    if b.patience is not null then
      perform weir._be_patient(b.job, b.patience);
    end if;
    if b.reuse is not null then
      perform weir.decide(q.id, r.outcome, result => r.result, cause => r.cause, passes => r.outcome = 'skipped', by => 'rerun', at => t)
      from jsonb_to_recordset(b.reuse) r (key text, outcome text, result jsonb, cause text) join weir.tasks q on q.job = b.job and q.key = r.key;
    end if;
    built := built + 1;
  end loop;
  return built;
end $$;
comment on function weir.workflow_build is 'Gives queued jobs their tasks.';
