-- Brings tasks back from finished (the caller has deleted those rows) to pending: first those given, with their needs counted as met, then every
-- dependent that was skipped because of them. Their jobs live again.
create or replace function weir._revive(ended weir.finished[], by text, t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = on
as $$
#variable_conflict use_column
declare
  wave uuid[];
  first boolean := true;
  jobs uuid[];
begin
  while cardinality(ended) > 0 loop
    wave := array(select e.task from unnest(ended) e);
    delete from weir.lane_blocks b where b.task = any (wave);
    insert into weir.pending (task, order_seq, class, position, priority, attempt, gate, since, rule, run_at, lane, rank, exclusive, pool, job)
    select q.id, q.order_seq, q.class, q.position, c.priority, e.attempt, case when first then 'time' else 'needs' end::weir.gate, t, q.rule, t,
      q.lane, q.rank, case when q.lane is not null then coalesce(q.exclusive, false) end, (select p.name from weir.pools p where p.name = q.pool), q.job
    from unnest(ended) e join weir.tasks q on q.id = e.task join weir.classes c on c.id = q.class;
    insert into weir.events (at, type, attempt, job, task, source, message, data)
    select t, 'retried', e.attempt, q.job, q.id, by, case when not first then 'a need of it runs again' end,
      jsonb_strip_nulls(jsonb_build_object('claimed_at', e.started_at, 'opened_at', e.opened_at, 'ended_at', e.at))
    from unnest(ended) e join weir.tasks q on q.id = e.task;

    jobs := array(select distinct q.job from weir.tasks q where q.id = any (wave) and q.job is not null order by 1);
    insert into weir.job_live (job, total, done, failed, canceled, skipped)
    select j.id, j.total, f.done, f.failed, f.canceled, f.skipped from weir.jobs j join weir.job_finished f on f.job = j.id where j.id = any (jobs)
    on conflict do nothing;
    with back as (
      delete from weir.job_finished f where f.job = any (jobs) returning f.job
    )
    insert into weir.events (at, type, kind, subject, job, source) select t, 'retried', 'job', b.job, b.job, by from back b;
    update weir.job_live j set failed = j.failed - n.failed, canceled = j.canceled - n.canceled, skipped = j.skipped - n.skipped, cause = null, cancel_at = null
    from (
      select q.job, count(*) filter (where e.outcome = 'failed') as failed, count(*) filter (where e.outcome = 'canceled') as canceled,
        count(*) filter (where e.outcome = 'skipped') as skipped
      from unnest(ended) e join weir.tasks q on q.id = e.task group by q.job
    ) n where j.job = n.job;

    with back as (
      delete from weir.finished f using weir.tasks q
      where q.job = any (jobs) and q.needs && wave and f.task = q.id and f.outcome = 'skipped' and f.passes is not true
        -- Not when another need of it failed as well: then it stays skipped.
        and (q.rule <> 'all_success' or not exists (select from weir.finished o where o.task = any (q.needs) and o.outcome <> 'done' and o.passes is not true))
      returning f.*
    )
    select array_agg(row(b.*)::weir.finished) into ended from back b;
    first := false;
  end loop;
  -- The needs that are open again.
  insert into weir.edges (need, task)
  select n, p.task from weir.pending p join weir.tasks q on q.id = p.task, unnest(q.needs) n
  where p.job = any (jobs) and p.gate = 'needs' and not exists (select from weir.finished f where f.task = n)
  on conflict do nothing;
  update weir.pending p set unmet = (select count(*) from weir.edges e where e.task = p.task),
    broken = exists (select from weir.tasks q join weir.finished o on o.task = any (q.needs) where q.id = p.task and o.outcome <> 'done' and o.passes is not true)
  where p.job = any (jobs) and p.gate = 'needs';
end $$;
comment on function weir._revive is 'finished → pending for tasks and what was skipped because of them.';
