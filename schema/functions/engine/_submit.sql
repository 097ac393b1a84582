-- Writes tasks that weir._parse accepted. A task without a gate goes straight to available; all others stand at their
-- first gate.
-- The time is cut to milliseconds, as the ids have it, so that an id leads to its event.
-- The transaction has its id before it draws numbers from order_seq, because weir._take_horizon judges by ids who may
-- have drawn one. No other function puts tasks under the ordered class; one with a number that was drawn earlier goes
-- under -class (docs/decisions/0013).
-- Tasks of a job have its priority and its trace, unless they say their own.
create or replace function weir._submit(specs weir.task_spec[], in_job uuid, job_order bigint, t timestamptz,
  job_priority int default 0, job_trace text default null)
returns table (n int, task uuid, existed boolean)
language plpgsql
set search_path = weir, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  stem text;
  ids uuid[];
  same uuid[];
  new_class boolean;
  keyed boolean;
  gated boolean;
  linked boolean;
  fleet boolean;
  by_key jsonb;
begin
  t := date_trunc('milliseconds', t);
  perform pg_current_xact_id();
  -- As weir._id makes them, with the time written once.
  stem := weir._id_prefix(t);
  ids := array(select (stem || lpad(to_hex(g & 4095), 3, '0') || substr(gen_random_uuid()::text, 19))::uuid
    from generate_series(1, cardinality(specs)) g);

  select bool_or(c.id is null), bool_or(s.idempotency_key is not null or s.unique_key is not null),
    bool_or(s.run_at is not null or s.hold is not null or s.lane is not null or s.pool is not null or s.plan is true),
    bool_or(s.needs is not null), bool_or(s.service = 'fleet')
  into new_class, keyed, gated, linked, fleet
  from unnest(specs) s
  left join weir.classes c on c.service = s.service and c.priority = coalesce(s.priority, job_priority)
    and c.labels = coalesce(s.labels, '{}');
  if fleet then
    perform weir._invalid('service', 'tasks of the fleet are made when a PC asks for them',
      hint => 'submit a fleet job: weir.fleet_submit');
  end if;
  if new_class then
    insert into weir.classes (service, priority, labels)
    select distinct s.service, coalesce(s.priority, job_priority), coalesce(s.labels, '{}') from unnest(specs) s
    order by 1, 2, 3
    on conflict do nothing;
  end if;
  if keyed then
    same := weir._deduplicate(specs, ids);
  end if;

  -- Most tasks have no gate, no key and no job: for them the statement has fewer parts, and starting it is most of the
  -- cost of a single task.
  if in_job is null and not keyed and not gated then
    return query
    with i as (
      insert into weir.tasks (id, order_seq, class, position, max_attempts, key, params, timeout, backoff, backoff_cap,
        orphan_stops, trace, run)
      select ids[s.ordinality], nextval('weir.order_seq'), c.id, 0, s.max_attempts, s.key, coalesce(s.params, '{}'),
        s.timeout, s.backoff, s.backoff_cap, nullif(s.orphan = 'stop', false), s.trace, s.run
      from unnest(specs) with ordinality s
      left join weir.classes c on c.service = s.service and c.priority = coalesce(s.priority, 0)
        and c.labels = coalesce(s.labels, '{}')
      order by s.ordinality
      returning id, order_seq, class
    ), a as (
      insert into weir.available (order_seq, task, class, position, attempt)
      select i.order_seq, i.id, i.class, 0, 0 from i
    ), e as (
      insert into weir.events (at, type, tasks) select t, 'submitted', array_agg(i.id) from i having count(*) > 0
    )
    select g.n::int, g.id, false from unnest(ids) with ordinality g (id, n);
    return;
  end if;

  if linked then
    -- A look-up for each need: a join of the tasks with one another would be planned without knowing how many they are.
    by_key := (select jsonb_object_agg(s.key, ids[s.ordinality]) from unnest(specs) with ordinality s
      where s.key is not null);
  end if;
  return query
  with s as materialized (
    select s.ordinality::int as n, ids[s.ordinality] as id, same[s.ordinality] as same, s.*
    from unnest(specs) with ordinality s
  ), i as (
    insert into weir.tasks (id, order_seq, class, position, max_attempts, job, key, params, run_at, hold, lane, rank,
      exclusive, pool, timeout, backoff, backoff_cap, orphan_stops, rule, needs, unique_key, trace, plan, run)
    select s.id, coalesce(job_order, nextval('weir.order_seq')), c.id, case when in_job is null then 0 else s.n end,
      s.max_attempts, in_job, s.key, coalesce(s.params, '{}'), s.run_at, s.hold, s.lane, s.rank, s.exclusive, s.pool,
      s.timeout, s.backoff, s.backoff_cap, nullif(s.orphan = 'stop', false),
      case when cardinality(s.needs) > 0 then coalesce(s.rule, 'all_success') end,
      case when s.needs is not null then array(select (by_key ->> w)::uuid from unnest(s.needs) w) end,
      s.unique_key, coalesce(s.trace, job_trace), nullif(s.plan, false), s.run
    from s
    left join weir.classes c on c.service = s.service and c.priority = coalesce(s.priority, job_priority)
      and c.labels = coalesce(s.labels, '{}')
    where s.same is null
    order by s.n
    returning *
  ), g as (
    select i.*,
      case when cardinality(i.needs) > 0 then 'needs'
        else weir._next_gate(i.plan, i.run_at, i.hold, i.lane, i.pool, t) end as gate
    from i
  ), a as (
    insert into weir.available (order_seq, task, class, position, attempt)
    select order_seq, id, class, position, 0 from g where gate is null
  ), p as (
    insert into weir.pending (task, order_seq, class, position, priority, attempt, gate, since, unmet, rule, run_at,
      hold, lane, rank, exclusive, pool, job, plan)
    select g.id, g.order_seq, g.class, g.position, c.priority, 0, g.gate, t, coalesce(cardinality(g.needs), 0), g.rule,
      g.run_at, g.hold, g.lane, g.rank, case when g.lane is not null then coalesce(g.exclusive, false) end, g.pool,
      g.job, g.plan
    from g join weir.classes c on c.id = g.class where g.gate is not null
  ), d as (
    insert into weir.edges (need, task) select need, g.id from g, unnest(g.needs) need
  ), e as (
    insert into weir.events (at, type, job, tasks)
    select t, case when gate is null then 'submitted' else 'gated' end, in_job, array_agg(id) from g
    group by gate is null
  )
  select s.n, coalesce(s.same, s.id), s.same is not null from s order by s.n;
end $$;
comment on function weir._submit is 'Writes parsed tasks and their first events.';
