-- The DAG's turn, in the transaction that ended its tasks. Counts them into their jobs, deletes the edges of what
-- ended, counts the dependents down, lets them go on or skips them with the reason, wave by wave; then closes the jobs
-- with nothing left. of: the job of each, from a caller who knows that all have one and are done. counted: the jobs
-- have counted them, and their dependents are still to hear of it (weir._tend_chains).
-- A chain of skips is followed so many steps in one transaction, because whoever ended its first task waits for it;
-- weir.tend goes on.
-- Locks are taken in one order everywhere: leases, jobs by id, pending rows by id, edges, then (by the caller) lanes
-- and pools. The job's lock makes the steps of one job follow one another, and who ends a step of a wide job waits for
-- it: so what has to be looked up is looked up before, and the statements behind it are few and small. The count takes
-- the lock; who counts into several jobs takes their locks first, in order.
create or replace function weir._settle(ended uuid[], inout lanes text[], inout pools text[], t timestamptz,
  of uuid[] default null, counted boolean default false)
language plpgsql
set search_path = weir, pg_temp
set enable_nestloop = on
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  wave uuid[] := ended;
  outcomes weir.state[];  -- null: all done
  fine boolean[];         -- null: all
  causes text[];
  over uuid[];
  go uuid[];
  skip uuid[];
  culprit uuid[];
  step record;
  waves int := 0;
  skipped int := 0;
begin
  if of is null then
    select array_agg(q.id), array_agg(q.job), array_agg(f.outcome), array_agg(f.outcome = 'done' or f.passes is true),
      array_agg(case when f.outcome in ('failed', 'canceled') then coalesce(q.key, q.id::text) || ': ' || f.cause end)
    into wave, of, outcomes, fine, causes
    from unnest(ended) e (task), lateral (select q.id, q.job, q.key from weir.tasks q where q.id = e.task offset 0) q,
      lateral (select f.outcome, f.passes, f.cause from weir.finished f where f.task = e.task offset 0) f
    where q.job is not null;
  end if;
  if cardinality(of) > 1 or counted then
    perform from weir.job_live j where j.job = any (of) order by j.job for update;
  end if;
  while cardinality(wave) > 0 loop
    if not counted then
      with n as materialized (
        select o.job, count(*) filter (where coalesce(o.outcome, 'done') = 'done') as done,
          count(*) filter (where o.outcome = 'failed') as failed,
          count(*) filter (where o.outcome = 'canceled') as canceled,
          count(*) filter (where o.outcome = 'skipped') as skipped, min(o.cause) as cause
        from unnest(of, outcomes, causes) o (job, outcome, cause) group by o.job
      ), u as (
        update weir.job_live j
        set done = j.done + n.done, failed = j.failed + n.failed, canceled = j.canceled + n.canceled,
          skipped = j.skipped + n.skipped, cause = coalesce(j.cause, n.cause)
        from n where j.job = n.job
        returning j.job, j.done + j.failed + j.canceled + j.skipped = j.total as complete
      )
      select over || array_agg(u.job) filter (where u.complete) into over from u;
    end if;
    counted := false;
    if waves = 100 or skipped >= 2000 then
      insert into weir.unsettled (task, job, at)
      select w.task, w.job, t from unnest(wave, of) w (task, job)
      where exists (select from weir.edges e where e.need = w.task);
      exit;
    end if;
    waves := waves + 1;

    -- An edge of what ended leads to a row that waits.
    perform from weir.pending p where p.task = any (array(select e.task from weir.edges e where e.need = any (wave)))
    order by p.task for update;
    exit when not found;
    with hit as (
      delete from weir.edges e where e.need = any (wave) returning e.task, e.need
    ), x as materialized (
      select hit.task, count(*)::int as n, bool_or(w.fine is false) as bad,
        (array_agg(hit.need order by w.fine, hit.need))[1] as culprit
      from hit join unnest(wave, fine) w (task, fine) on w.task = hit.need group by hit.task
    ), p as (
      update weir.pending p set unmet = p.unmet - x.n, broken = p.broken or x.bad from x where p.task = x.task
      returning p.task, p.job, x.culprit, case when p.gate <> 'needs' then 'wait'
        when p.unmet = 0 and (p.rule in ('all_done', 'finally') or p.rule = 'all_success' and not p.broken)
          or p.rule = 'one_failed' and p.broken then 'go'
        when p.rule = 'all_success' and p.broken or p.rule = 'one_failed' and p.unmet = 0 then 'skip' end as turn
    )
    select array_agg(p.task) filter (where p.turn = 'go'), array_agg(p.task) filter (where p.turn = 'skip'),
      array_agg(p.culprit) filter (where p.turn = 'skip'), array_agg(p.job) filter (where p.turn = 'skip')
    into go, skip, culprit, of from p;
    exit when go is null and skip is null;

    delete from weir.edges e where e.task = any (go || skip);
    if go is not null then
      select * into step from weir._advance(go, t);
      lanes := lanes || step.lanes;
      pools := pools || step.pools;
    end if;
    exit when skip is null;
    perform weir._close(array(
      select weir._finished_row(p.task, t, p.attempt, 'skipped',
        case when p.rule = 'one_failed' then 'no need failed'
          else format('need %s is %s', coalesce(n.key, d.culprit::text), n.outcome) end)
      from weir.pending p join unnest(skip, culprit) d (task, culprit) on d.task = p.task,
        lateral (select q.key, f.outcome from weir.tasks q, weir.finished f
          where q.id = d.culprit and f.task = d.culprit offset 0) n
      where p.task = any (skip)));
    delete from weir.pending p where p.task = any (skip);
    wave := skip;
    skipped := skipped + cardinality(skip);
    outcomes := array_fill('skipped'::weir.state, array[cardinality(skip)]);
    fine := array_fill(false, array[cardinality(skip)]);
    causes := null;
  end loop;
  if over is not null then
    perform weir._close_jobs(over, t);
  end if;
end $$;
comment on function weir._settle is
  'Counts dependents down, skips what cannot run, closes jobs. Adds the lanes and pools its tasks now stand at.';
