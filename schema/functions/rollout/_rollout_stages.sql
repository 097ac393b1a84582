-- The stages of rollouts as they stand: which are complete, and what keeps the others. facts are those of
-- weir._rollout_facts.
-- earlier is the first stage before it that is not complete, canary what its other databases wait for: the same
-- until all of it is through, so that no hold goes stale in between. A stage is complete when nothing of it is left and
-- its failures are allowed.
create or replace function weir._rollout_stages(facts jsonb)
returns table (rollout uuid, n smallint, name text, earlier text, complete boolean, begins boolean, gate text,
  waits jsonb, canary_left int, canary jsonb, stopped jsonb, open int, left_first int, active int)
language plpgsql stable
set search_path = weir, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query with f as materialized (
    select x.rollout, x.stage,
      coalesce(sum(x.n) filter (where x.state in ('waiting', 'available', 'running')), 0)::int as open,
      coalesce(sum(x.n) filter (where x.state in ('available', 'running')), 0)::int as active,
      coalesce(sum(x.n) filter (where x.state = 'bad'), 0)::int as bad, min(x.task) as bad_task,
      coalesce(sum(x.n) filter (where x.canary and x.state <> 'passed'), 0)::int as canary_left,
      coalesce(sum(x.n) filter (where x.canary and x.state in ('waiting', 'available', 'running')),
        0)::int as canary_open,
      min(x.task) filter (where x.canary) as canary_bad, min(x.database) filter (where x.canary) as canary
    from jsonb_to_recordset(facts) x (rollout uuid, stage smallint, canary boolean, state text, n int, task text,
      database text)
    group by x.rollout, x.stage
  ), s as (
    select s.*, r.hash, r.started_at, f.open, f.active, f.canary_left, f.canary_open,
      case
        when least(s.canary, s.databases) > 1 then
          jsonb_build_object('code', 'rollout_canaries', 'canary', f.canary, 'more', least(s.canary, s.databases) - 1)
        else jsonb_build_object('code', 'rollout_canary', 'canary', f.canary) end as canary_waits,
      (select count(*)::int from weir.rollout_approvals a
        where a.rollout = s.rollout and a.stage = s.n and a.hash = r.hash) as approved,
      case
        when s.on_failure = 'stop' and f.bad > 0 or s.on_failure = 'at_most' and f.bad > s.max_failures then f.bad_task
        else f.canary_bad end::uuid as culprit
    from f join weir.rollout_stages s on s.rollout = f.rollout and s.n = f.stage
    join weir.rollouts r on r.job = f.rollout
  ), c as (
    select s.*, s.open = 0 and s.culprit is null as is_complete from s
  ), e as (
    select c.*,
      (array_agg(c.name) filter (where not c.is_complete) over (partition by c.rollout
          order by c.n rows between unbounded preceding and 1 preceding))[1] as before
    from c
  )
  select e.rollout, e.n, e.name, e.before, e.is_complete, e.started_at is not null and e.before is null
    and e.approved >= e.approvals and (not e.manual or e.n = 1 or e.promoted_at is not null),
    case when e.approved < e.approvals then 'approval'
      when e.manual and e.n > 1 and e.promoted_at is null then 'promotion' end,
    case
      when e.approved < e.approvals then
        jsonb_build_object('code', 'rollout_approval', 'stage', e.name,
          'approved', e.approved, 'approvals', e.approvals,
        'do',
        format('weir rollout approve %s %s', e.rollout, e.name))
      when e.manual and e.n > 1
        and e.promoted_at is null then
          jsonb_build_object('code', 'rollout_promotion', 'stage', e.name, 'do',
          format('weir rollout promote %s %s', e.rollout, e.name)) end,
    e.canary_left, e.canary_waits,
    (select jsonb_build_object('code',
        case when g.unknown then 'rollout_unknown' when o.outcome = 'canceled' then 'rollout_canceled'
          else 'rollout_failed' end, 'task', q.key)
      from weir.tasks q join weir.finished o on o.task = q.id
      left join weir.rollout_runs g on g.task = q.id and g.attempt = o.attempt where q.id = e.culprit),
    e.open, case when e.canary_open > 0 then e.canary_open else e.open end, e.active
  from e;
end $$;
comment on function weir._rollout_stages is 'How far each stage is and what it waits for.';
