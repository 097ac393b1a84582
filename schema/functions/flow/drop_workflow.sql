-- Deletes a version of a workflow, or all of it, and returns how many versions that were. The rows stay, for jobs are
-- pinned to them and show their graph. Nothing else finds them, and their numbers are never used again: a new
-- definition of that name gets the next one. Schedules of the definition's own block go with the last version.
-- Refused while something would still come of it: jobs that have not ended, other schedules, triggers, steps of other
-- workflows.
-- Of several versions the one that a run takes is not deleted alone: runs would silently take an older one.
create or replace function weir.drop_workflow(name text, version int default null, by text default null,
  at timestamptz default null)
returns int
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(drop_workflow.at);
  what text := case when drop_workflow.version is null then format('workflow %L', drop_workflow.name)
    else format('version %s of workflow %L', drop_workflow.version, drop_workflow.name) end;
  own text := 'workflow/' || drop_workflow.name || '/';
  ids uuid[];
  names text[];
  last boolean;
  n record;
begin
  -- Whoever puts a version of it at this moment comes before or after.
  perform pg_advisory_xact_lock(96, hashtext(drop_workflow.name));
  select array_agg(w.id) filter (where w.version = coalesce(drop_workflow.version, w.version)),
    bool_and(w.version = coalesce(drop_workflow.version, w.version))
  into ids, last
  from weir.workflows w where w.name = drop_workflow.name and w.deleted_at is null;
  if ids is null then
    perform weir._not_found('workflow', concat_ws(' version ', drop_workflow.name, drop_workflow.version));
  end if;
  select count(*) filter (where l.due is null) as running, count(*) filter (where l.due is not null) as queued into n
  from weir.job_live l where l.definition = any (ids);
  if n.running + n.queued > 0 then
    perform weir._conflict('%s has jobs that have not ended: %s running, %s queued',
      jsonb_build_array(what, n.running, n.queued),
      hint => 'cancel them or let them end; to start no more of them, deactivate it');
  end if;
  if not last
    and drop_workflow.version = (select max(w.version) from weir.workflows w
      where w.name = drop_workflow.name and w.active) then
    perform weir._conflict('%s is what a run of it takes', jsonb_build_array(what),
      hint => 'deactivate it first, or delete all versions');
  end if;
  select array_agg(s.name order by s.name) into names from weir.schedules s
  where last and s.workflow = drop_workflow.name and not starts_with(s.name, own);
  if names is not null then
    perform weir._conflict('%s is what schedule %s runs%s',
      jsonb_build_array(what, names[1],
        case when cardinality(names) > 1 then format(', and %s others', cardinality(names) - 1) else '' end),
      hint => 'drop the schedule first');
  end if;
  select array_agg(g.name order by g.name) into names from weir.triggers g
  where last and drop_workflow.name in (g.workflow, g.after);
  if names is not null then
    perform weir._conflict('%s is named by trigger %s%s',
      jsonb_build_array(what, names[1],
        case when cardinality(names) > 1 then format(', and by %s others', cardinality(names) - 1) else '' end),
      hint => 'drop the trigger first');
  end if;
  select array_agg(distinct w.name) into names
  from weir.workflows w,
    jsonb_array_elements(case when jsonb_typeof(w.definition -> 'steps') = 'array' then w.definition -> 'steps'
        else '[]' end) s
  where w.active and w.id <> all (ids)
    and (last and s ->> 'workflow' = drop_workflow.name
      or s ->> 'workflow' in (select d.name || '@' || d.version from weir.workflows d where d.id = any (ids)));
  if names is not null then
    perform weir._conflict('%s is a step of workflow %s%s',
      jsonb_build_array(what, names[1],
        case when cardinality(names) > 1 then format(', and of %s others', cardinality(names) - 1) else '' end),
      hint => 'delete that one first, or deactivate its versions that name it');
  end if;
  update weir.workflows w set active = false, deleted_at = t, updated_at = t where w.id = any (ids);
  insert into weir.events (at, type, kind, subject, source, message)
  values (t, 'dropped', 'workflow', drop_workflow.name, drop_workflow.by,
    coalesce('version ' || drop_workflow.version, format('all versions: %s', cardinality(ids))));
  if last then
    perform weir.drop_schedule(s.name, drop_workflow.by, at => t) from weir.schedules s
    where s.workflow = drop_workflow.name and starts_with(s.name, own);
  end if;
  return cardinality(ids);
end $$;
comment on function weir.drop_workflow is 'Deletes a version of a workflow, or all of them. Jobs keep what they ran.';
