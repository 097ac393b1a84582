-- The stages of a rollout as they stand: which are complete, and what keeps the others. facts are those of weir._rollout_facts, counted once.
-- earlier is the first stage before it that is not complete. A stage is complete when nothing of it is left and its failures are allowed.
create or replace function weir._rollout_stages(r weir.rollouts, facts jsonb)
returns table (n smallint, name text, earlier text, complete boolean, begins boolean, gate text, waits text, canary_left int, canary text, stopped text, open int, left_first int, active int)
language sql stable
set search_path = weir, pg_temp
as $$
  with f as materialized (
    select x.stage, count(*) filter (where x.state in ('waiting', 'available', 'running'))::int as open, count(*) filter (where x.state in ('available', 'running'))::int as active,
      count(*) filter (where x.state = 'bad')::int as bad, min(x.task::text) filter (where x.state = 'bad') as bad_task,
      count(*) filter (where x.canary and x.state <> 'passed')::int as canary_left, count(*) filter (where x.canary and x.state in ('waiting', 'available', 'running'))::int as canary_open,
      min(x.task::text) filter (where x.canary and x.state = 'bad') as canary_bad, min(x.database) filter (where x.canary and x.state <> 'passed') as canary
    from jsonb_to_recordset(_rollout_stages.facts) x (task uuid, stage smallint, database text, canary boolean, state text) group by x.stage
  ), s as (
    select s.*, f.open, f.active, f.canary_left, f.canary_open, f.canary as canary_name,
      (select count(*)::int from weir.rollout_approvals a where a.rollout = s.rollout and a.stage = s.n and a.hash = r.hash) as approved,
      case when s.on_failure = 'stop' and f.bad > 0 or s.on_failure = 'at_most' and f.bad > s.max_failures then f.bad_task else f.canary_bad end::uuid as culprit
    from weir.rollout_stages s join f on f.stage = s.n where s.rollout = r.job
  ), c as (
    select s.*, s.open = 0 and s.culprit is null as is_complete from s
  ), e as (
    select c.*, (select o.name from c o where o.n < c.n and not o.is_complete order by o.n limit 1) as before from c
  )
  select e.n, e.name, e.before, e.is_complete, r.started_at is not null and e.before is null and e.approved >= e.approvals and (not e.manual or e.n = 1 or e.promoted_at is not null),
    case when e.approved < e.approvals then 'approval' when e.manual and e.n > 1 and e.promoted_at is null then 'promotion' end,
    case when e.approved < e.approvals then format('waits for approval of stage %s (%s of %s): weir rollout approve %s %s', e.name, e.approved, e.approvals, r.job, e.name)
      when e.manual and e.n > 1 and e.promoted_at is null then format('waits for promotion of stage %s: weir rollout promote %s %s', e.name, r.job, e.name) end,
    e.canary_left, e.canary_name,
    (select format('waits for a decision: %s %s or abort', q.key, case when g.unknown then 'is UNKNOWN; resolve' when o.outcome = 'canceled' then 'was canceled; retry, skip' else 'failed; retry, skip' end)
      from weir.tasks q join weir.finished o on o.task = q.id left join weir.rollout_runs g on g.task = q.id and g.attempt = o.attempt where q.id = e.culprit),
    e.open, case when e.canary_open > 0 then e.canary_open else e.open end, e.active
  from e
$$;
comment on function weir._rollout_stages is 'How far each stage is and what it waits for.';
