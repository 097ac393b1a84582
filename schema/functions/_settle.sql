-- The DAG's turn, in the transaction that ended its tasks. Deletes the edges of what ended, counts the dependents down, lets them go on or
-- skips them with the reason, wave by wave; then counts the jobs and closes those with nothing left.
-- Locks are taken in one order everywhere: leases, jobs by id, pending rows by id, edges, then (by the caller) lanes and pools. The job's lock
-- makes the steps of one job follow one another.
create or replace function weir._settle(ended uuid[], inout lanes text[], inout pools text[], t timestamptz)
language plpgsql
set search_path = weir, pg_temp
set enable_nestloop = on
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  wave uuid[] := array(select q.id from unnest(ended) e (task), lateral (select q.id, q.job from weir.tasks q where q.id = e.task offset 0) q where q.job is not null);
  every uuid[] := wave;
  deps uuid[];
  met int[];
  bad boolean[];
  culprit uuid[];
  go uuid[];
  skip uuid[];
  step record;
begin
  if cardinality(wave) = 0 then
    return;
  end if;
  perform from weir.job_live j
  where j.job = any (array(select q.job from unnest(wave) e (task), lateral (select q.job from weir.tasks q where q.id = e.task offset 0) q))
  order by j.job for update;
  while cardinality(wave) > 0 loop
    perform from weir.pending p where p.task = any (array(select e.task from weir.edges e where e.need = any (wave))) order by p.task for update;
    with hit as (
      delete from weir.edges e where e.need = any (wave) returning e.task, e.need
    )
    select array_agg(x.task order by x.task), array_agg(x.n order by x.task), array_agg(x.bad order by x.task), array_agg(x.culprit order by x.task)
    into deps, met, bad, culprit
    from (
      select hit.task, count(*)::int as n, bool_or(not f.fine) as bad, (array_agg(hit.need order by f.fine, hit.need))[1] as culprit
      from hit, lateral (select (f.outcome = 'done' or f.passes is true) as fine from weir.finished f where f.task = hit.need offset 0) f
      group by hit.task
    ) x;
    exit when deps is null;

    update weir.pending p set unmet = p.unmet - d.n, broken = p.broken or d.bad
    from unnest(deps, met, bad) d (task, n, bad) where p.task = d.task;

    select array_agg(p.task) filter (where p.unmet = 0 and (p.rule = 'all_done' or p.rule = 'all_success' and not p.broken) or p.rule = 'one_failed' and p.broken),
      array_agg(p.task) filter (where p.rule = 'all_success' and p.broken or p.rule = 'one_failed' and p.unmet = 0 and not p.broken)
    into go, skip from weir.pending p where p.task = any (deps) and p.gate = 'needs';

    delete from weir.edges e where e.task = any (go || skip);
    if go is not null then
      select * into step from weir._advance(go, t);
      lanes := lanes || step.lanes;
      pools := pools || step.pools;
    end if;
    if skip is not null then
      perform weir._close(array(
        select row(p.task, t, null, null, p.attempt, 'skipped', null, null, null,
          case when p.rule = 'one_failed' then 'no need failed' else format('need %s is %s', coalesce(n.key, d.culprit::text), n.outcome) end)::weir.finished
        from weir.pending p join unnest(deps, culprit) d (task, culprit) on d.task = p.task,
          lateral (select q.key, f.outcome from weir.tasks q, weir.finished f where q.id = d.culprit and f.task = d.culprit offset 0) n
        where p.task = any (skip)));
      delete from weir.pending p where p.task = any (skip);
      every := every || skip;
    end if;
    wave := skip;
  end loop;
  perform weir._tally(every, t);
end $$;
comment on function weir._settle is 'Counts dependents down, skips what cannot run, closes jobs. Adds the lanes and pools its tasks now stand at.';
