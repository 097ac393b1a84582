-- What the triggers that follow a run did when it ended. See weir._why_of.
create or replace function weir._why_ended_of_workflow(of_job uuid, t timestamptz)
returns table (gate text, open boolean, reason jsonb, blocker uuid, since timestamptz)
language sql stable
set search_path = weir, pg_temp
as $$
  select 'trigger', f.state = 'started',
    jsonb_build_object('code', 'trigger_' || case f.state when 'started' then 'starts' when 'pending' then 'due'
        else 'stops' end, 'trigger', f.trigger, 'workflow', g.workflow, 'why', f.reason), f.job, f.at
  from weir.firings f left join weir.triggers g on g.name = f.trigger where f.source = of_job order by f.trigger
$$;
comment on function weir._why_ended_of_workflow is 'What the end of a run has started.';
