-- A job of a workflow that may start at once: its tasks as somebody planned them from the definition. With newest, null
-- is the answer when that is not the newest active version any more: the caller has an old copy and plans again. One
-- trip, so that a run costs no more than a job.
create or replace function weir.workflow_run(definition uuid, newest boolean, tasks jsonb, patience jsonb default null,
  priority int default 0, params jsonb default null, idempotency_key text default null, trace text default null,
  options jsonb default null, scheduled_at timestamptz default null, hint boolean default true,
  at timestamptz default null) returns uuid
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  w weir.workflows;
  job uuid;
begin
  select x.* into w from weir.workflows x where x.id = workflow_run.definition;
  if not found then
    perform weir._not_found('definition', workflow_run.definition::text);
  end if;
  if workflow_run.newest
    and (not w.active
      or exists (select from weir.workflows x where x.name = w.name and x.active and x.version > w.version)) then
    return null;
  end if;
  job := weir.submit_job(workflow_run.tasks, w.name, kind => 'workflow', priority => workflow_run.priority,
    params => workflow_run.params, idempotency_key => workflow_run.idempotency_key, trace => workflow_run.trace,
    hint => workflow_run.hint, definition => w.id, options => workflow_run.options,
    scheduled_at => workflow_run.scheduled_at, at => workflow_run.at);
  if workflow_run.patience is not null then
    perform weir._set_wait_limits(job, workflow_run.patience);
  end if;
  return job;
end $$;
comment on function weir.workflow_run is
  'Submits a job of a workflow. Null: the definition is not the newest active one.';
