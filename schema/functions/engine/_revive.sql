-- Brings tasks back from finished (the caller has deleted those rows) to pending: first those given, then all that
-- ended because of them: dependents that were skipped, failed tasks that were split into them, and those of rule
-- finally, however they ended. Those given have
-- their needs counted as met; with in_order, a need that lives again comes first. What was never planned is planned
-- again; what never ran is held again if it was submitted so. Items of a map have its pool again. Their jobs live
-- again. note says why.
create or replace function weir._revive(ended weir.finished[], by text, t timestamptz, in_order boolean default false,
  note text default null)
returns void
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = on
as $$
#variable_conflict use_column
declare
  given uuid[] := array(select e.task from unnest(ended) e);
  wave uuid[];
  others uuid[];
  first boolean := true;
  jobs uuid[];
  hook regprocedure;
begin
  -- A domain may refuse it for its kind of job.
  for hook in select distinct weir._hook('revive', j.kind, 'uuid[]') from weir.tasks q join weir.jobs j on j.id = q.job
    where q.id = any (given) loop
    if hook is not null then
      execute format('select %s($1)', hook::regproc) using given;
    end if;
  end loop;
  while cardinality(ended) > 0 loop
    wave := array(select e.task from unnest(ended) e);
    delete from weir.lane_blocks b where b.task = any (wave);
    delete from weir.unsettled u where u.task = any (wave);
    perform weir._map_pools(array(select distinct q.pool from weir.tasks q
        where q.id = any (wave) and starts_with(q.pool, 'map:')), t, locked => true);
    insert into weir.pending (task, order_seq, class, position, priority, attempt, gate, since, rule, run_at, hold,
      lane, rank, exclusive, pool, job, plan)
    select q.id, q.order_seq, q.class, q.position, c.priority, least(e.attempt, weir._attempt_limit()),
      case when first and not in_order and q.awaits is null then 'time' else 'needs' end::weir.gate, t,
      case when q.awaits is null then q.rule else 'all_done' end, t, case when e.attempt = 0 then q.hold end,
      q.lane, q.rank, case when q.lane is not null then coalesce(q.exclusive, false) end,
      (select p.name from weir.pools p where p.name = q.pool), q.job, nullif(q.plan, false)
    from unnest(ended) e join weir.tasks q on q.id = e.task join weir.classes c on c.id = q.class;
    -- What is held again asks again.
    update weir.asks a set open = true from unnest(ended) e where a.task = e.task and e.attempt = 0;
    insert into weir.events (at, type, attempt, job, task, source, message, data)
    select t, 'retried', e.attempt, q.job, q.id, by, case when first then note else 'a need of it runs again' end,
      jsonb_strip_nulls(jsonb_build_object('claimed_at', e.started_at, 'opened_at', e.opened_at, 'ended_at', e.at))
    from unnest(ended) e join weir.tasks q on q.id = e.task;

    jobs := array(select distinct q.job from weir.tasks q where q.id = any (wave) and q.job is not null order by 1);
    -- A parent that has gone on does not wait for it any more.
    insert into weir.job_live (job, total, done, failed, canceled, skipped, definition, schedule, parent, watched)
    select j.id, j.total, f.done, f.failed, f.canceled, f.skipped, j.definition, j.schedule,
      (select p.task from weir.pending p where p.task = j.parent and p.plan), j.watched
    from weir.jobs j join weir.job_finished f on f.job = j.id where j.id = any (jobs)
    on conflict do nothing;
    with back as (
      delete from weir.job_finished f where f.job = any (jobs) returning f.job
    )
    insert into weir.events (at, type, kind, subject, job, source, message)
    select t, 'retried', 'job', b.job, b.job, by, note from back b;
    update weir.job_live j
    set done = j.done - n.done, failed = j.failed - n.failed, canceled = j.canceled - n.canceled,
      skipped = j.skipped - n.skipped, cancel_at = null, stop_at = null,
      -- What failed besides is still why the job fails.
      cause = (select coalesce(q.key, q.id::text) || ': ' || f.cause
        from weir.tasks q, lateral (select f.outcome, f.cause, f.at from weir.finished f where f.task = q.id offset 0) f
        where q.job = j.job and f.outcome in ('failed', 'canceled') order by f.at, q.position limit 1)
    from (
      select q.job, count(*) filter (where e.outcome = 'done') as done,
        count(*) filter (where e.outcome = 'failed') as failed,
        count(*) filter (where e.outcome = 'canceled') as canceled,
        count(*) filter (where e.outcome = 'skipped') as skipped
      from unnest(ended) e join weir.tasks q on q.id = e.task group by q.job
    ) n where j.job = n.job;

    ended := null;
    if first and cardinality(jobs) > 0 then
      others := weir._revivable(jobs, given);
      with back as (
        delete from weir.finished f where f.task = any (others) returning f as old
      )
      select array_agg(b.old order by (b.old).task) into ended from back b;
    end if;
    -- A dependent begins anew: what it was split into before counts again when it is planned again.
    update weir.tasks q set awaits = null from unnest(ended) e
    where q.id = e.task and e.outcome = 'skipped' and q.awaits is not null;
    -- What ran at the end runs again behind it, with all of its attempts.
    insert into weir.forgiven as g (task, returns)
    select e.task, least(e.attempt, weir._attempt_limit()) from unnest(ended) e join weir.tasks q on q.id = e.task
    where q.rule = 'finally' and e.attempt > 0
    on conflict (task) do update set crashes = 0, returns = excluded.returns;
    first := false;
  end loop;
  -- The needs that are open again.
  wave := array(select q.id from weir.tasks q where q.job = any (jobs));
  insert into weir.edges (need, task)
  select n, p.task
  from weir.pending p,
    lateral (select coalesce(q.awaits, q.needs) as needs from weir.tasks q where q.id = p.task offset 0) q,
    unnest(q.needs) n
  where p.task = any (wave) and p.gate = 'needs' and (select true from weir.finished f where f.task = n) is null
  on conflict do nothing;
  update weir.pending p set unmet = (select count(*) from weir.edges e where e.task = p.task),
    broken = exists (select from weir.tasks q, unnest(coalesce(q.awaits, q.needs)) n
      where q.id = p.task
        and (select f.outcome <> 'done' and f.passes is not true from weir.finished f where f.task = n))
  where p.task = any (wave) and p.gate = 'needs';
  update weir.pending p set gate = 'time' where p.task = any (given) and p.gate = 'needs' and p.unmet = 0;
end $$;
comment on function weir._revive is 'finished → pending for tasks and what ended because of them.';
