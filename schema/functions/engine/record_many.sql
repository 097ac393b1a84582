-- A node adds to the timelines of tasks that it has leased, with one call for many: an agent with twenty tasks has many
-- events each second, and one transaction for each would cost more than the work. A lease of another node is lost for
-- this one. One event that is refused by its value refuses the call, and nothing of it is written.
create or replace function weir.record_many(node text, tasks uuid[], attempts int[], tokens uuid[], types text[],
  messages text[], data jsonb[], levels text[], at timestamptz default null)
returns table (task uuid, refusal text, attempt int)
language plpgsql security definer
set search_path = weir, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(record_many.at);
  here int := (select n.id from weir.nodes n where n.name = record_many.node);
  got uuid[];
  got_attempts int[];
begin
  perform weir._check_note(g.type, g.data, g.level)
  from unnest(record_many.tasks, types, record_many.data, levels) g (task, type, data, level);
  with g as (
    select r.task, r.attempt, r.job, r.worker, g.type, g.message, g.data, g.level, g.n
    from unnest(record_many.tasks, attempts, tokens, types, messages, record_many.data, levels) with ordinality
      g (task, attempt, token, type, message, data, level, n),
    lateral (select * from weir.running r where r.task = g.task and r.attempt = g.attempt and r.token = g.token
      and r.node = here offset 0) r
  ), e as (
    insert into weir.events (at, type, worker, attempt, job, task, level, message, data)
    select t, g.type, g.worker, g.attempt, g.job, g.task, nullif(g.level, 'info'), weir._text(g.message), g.data
    from g order by g.n
  )
  select array_agg(g.task), array_agg(g.attempt) into got, got_attempts from g;
  if coalesce(cardinality(got), 0) < cardinality(record_many.tasks) then
    return query
    with f as materialized (
      -- What another node holds is no stale lease: only the answer tells of it.
      select distinct f.task, f.attempt
      from weir.foreign_leases(record_many.node, record_many.tasks, attempts, tokens) f
    ), s as (
      select distinct s.task, s.attempt, s.token
      from unnest(record_many.tasks, attempts, tokens) s (task, attempt, token)
    ), a as (
      select array_agg(s.task) as tasks, array_agg(s.attempt) as attempts, array_agg(s.token) as tokens
      from s where not exists (select from f where f.task = s.task and f.attempt = s.attempt)
    )
    select f.task, 'lease_lost', f.attempt from f
    union all
    select x.task, x.refusal, x.attempt
    from a, weir._refuse('record', a.tasks, a.attempts, a.tokens, got, got_attempts, t) x;
  end if;
end $$;
comment on function weir.record_many is 'Adds events to tasks that a node has leased. Returns only what was refused.';
