-- A worker says that it has begun. Optional: it separates waiting at the worker from running. Returns the tasks whose
-- lease is lost.
create or replace function weir.start_many(tasks uuid[], attempts int[], tokens uuid[], at timestamptz default null)
returns table (task uuid, refusal text, attempt int)
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_nestloop = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(start_many.at);
  got uuid[];
  got_attempts int[];
begin
  with u as (
    update weir.running r set started = true
    from (select * from unnest(start_many.tasks, attempts, tokens) g (task, attempt, token) order by g.task) g
    where r.task = any (start_many.tasks) and r.task = g.task and r.attempt = g.attempt and r.token = g.token
    returning r.*, (select o.started from weir.running o where o.task = r.task) as was
  ), e as (
    insert into weir.events (at, type, worker, attempt, job, task)
    select t, 'started', u.worker, u.attempt, u.job, u.task from u where u.was is null
  )
  select array_agg(u.task), array_agg(u.attempt) into got, got_attempts from u;
  return query select * from weir._refuse('start', start_many.tasks, attempts, tokens, got, got_attempts, t);
end $$;
comment on function weir.start_many is 'Records that leased tasks have begun. Returns only those that were refused.';
