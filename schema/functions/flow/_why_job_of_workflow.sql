-- The nodes that are being woken for the steps of a job that is not built yet. See weir._why_of.
create or replace function weir._why_job_of_workflow(of_job uuid, t timestamptz)
returns table (gate text, open boolean, reason jsonb, blocker uuid, since timestamptz)
language sql stable
set search_path = weir, pg_temp
as $$
  select 'worker', false,
    jsonb_build_object('code', 'node_waking', 'name', n.name, 'for', weir._seconds(t - n.wake_at)), null::uuid,
    n.wake_at
  from weir.nodes n
  where n.wake_state = 'waking' and exists (
    select from weir.jobs j
    join weir.workflows w on w.id = j.definition, jsonb_array_elements(w.definition -> 'steps') step
    where j.id = of_job and n.capacity ? (step ->> 'service'))
  order by n.wake_at
$$;
comment on function weir._why_job_of_workflow is 'Which nodes are woken for a job.';
