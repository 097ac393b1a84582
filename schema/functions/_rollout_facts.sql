-- The tasks of a rollout as far as holds depend on them. state: waiting, available, running, passed (done or skipped) or bad (failed, canceled, unknown).
-- proven: its change is known to be applied, and the next attempt only says so.
create or replace function weir._rollout_facts(id uuid)
returns table (task uuid, stage smallint, database text, canary boolean, state text, outcome text, hold text, attempt int, proven boolean)
language sql stable
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
  select x.task, x.stage, x.database, x.canary,
    case when p.task is not null then 'waiting' when f.outcome is null then case when r.task is not null then 'running' else 'available' end
      when f.outcome = 'done' or f.passes then 'passed' else 'bad' end,
    f.outcome::text, p.hold, coalesce(p.attempt, r.attempt - 1, f.attempt)::int,
    exists (select from weir.rollout_runs g where g.task = x.task and g.attempt = coalesce(p.attempt, r.attempt - 1) and g.code = 'applied')
  from weir.rollout_tasks x
    left join lateral (select p.task, p.hold, p.attempt from weir.pending p where p.task = x.task offset 0) p on true
    left join lateral (select r.task, r.attempt from weir.running r where r.task = x.task offset 0) r on true
    left join lateral (select f.outcome, f.passes, f.attempt from weir.finished f where f.task = x.task offset 0) f on true
  where x.rollout = _rollout_facts.id
$$;
comment on function weir._rollout_facts is 'The tasks of a rollout as its gates see them.';
