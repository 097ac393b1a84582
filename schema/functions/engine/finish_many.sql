-- Ends tasks as done. hint: workers are told at commit that there may be something for them; who ends many tells them
-- himself, now and then.
-- The rows are found by = any() and matched by a hash, for a plain join may scan all leases for every task; and in the
-- order of their ids on either side of the join, for two callers that lock rows in different orders may wait for each
-- other. All calls with leases are so.
-- Each must carry the attempt and token of its live lease. Returns a row for every one that was not accepted:
-- repeated (this attempt had already been accepted: all is well), lease_lost (WR410) or unknown (WR404).
create or replace function weir.finish_many(tasks uuid[], attempts int[], tokens uuid[], results jsonb[] default null,
  hint boolean default true, at timestamptz default null)
returns table (task uuid, refusal text, attempt int)
language plpgsql security definer
set search_path = weir, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_nestloop = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(finish_many.at);
  accepted int;
  got uuid[];
  got_attempts int[];
  keyed uuid[];
  in_jobs uuid[];
  jobs uuid[];
  lanes text[];
  pools text[];
begin
  with d as (
    delete from weir.running r using (
      select * from unnest(finish_many.tasks, attempts, tokens, results) g (task, attempt, token, result)
      order by g.task
    ) g
    where r.task = any (finish_many.tasks) and r.task = g.task and r.attempt = g.attempt and r.token = g.token
    returning r.task, r.attempt, r.worker, r.claimed_at, r.opened_at, r.keyed, r.job, r.lane, r.pool, g.result
  ), f as (
    insert into weir.finished (task, at, started_at, worker, attempt, outcome, opened_at, result)
    select d.task, t, d.claimed_at, d.worker, d.attempt, 'done', d.opened_at, d.result from d
  ), h as (
    insert into weir.pool_moves (pool, xid, held)
    select d.pool, pg_current_xact_id()::text::bigint, -count(*) from d where d.pool is not null group by d.pool
  ), e as (
    insert into weir.events (at, type, worker, attempt, job, tasks)
    select t, 'done', d.worker, d.attempt, d.job, array_agg(d.task) from d group by d.worker, d.attempt, d.job
  )
  select count(*), array_agg(d.task) filter (where d.keyed), array_agg(d.task) filter (where d.job is not null),
    array_agg(d.job) filter (where d.job is not null), array_agg(distinct d.lane) filter (where d.lane is not null),
    array_agg(distinct d.pool) filter (where d.pool is not null),
    case when count(*) < cardinality(finish_many.tasks) then array_agg(d.task) end,
    case when count(*) < cardinality(finish_many.tasks) then array_agg(d.attempt) end
  into accepted, keyed, in_jobs, jobs, lanes, pools, got, got_attempts from d;

  if keyed is not null then
    delete from weir.unique_keys u where u.task = any (keyed);
  end if;
  if in_jobs is not null then
    select * into lanes, pools from weir._settle(in_jobs, lanes, pools, t, jobs);
  end if;
  if lanes is not null or pools is not null then
    perform weir._try_open(lanes, pools, t);
  end if;
  if hint and (in_jobs is not null or lanes is not null or pools is not null) then
    perform pg_notify('weir_available', '');
  end if;
  if accepted < cardinality(finish_many.tasks) then
    return query select * from weir._refuse('finish', finish_many.tasks, attempts, tokens, got, got_attempts, t);
  end if;
end $$;
comment on function weir.finish_many is 'Ends leased tasks as done. Returns only those that were refused.';
