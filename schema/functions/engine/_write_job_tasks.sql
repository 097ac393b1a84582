-- Writes tasks that join jobs which are there already, each with its job's order_seq and behind position base. of names
-- the job of each. Their numbers are old, so they use the class beside the ordered one, where no floor hides them.
-- known are tasks of the job, if it is one, that they may need beside one another: a need that has ended counts at
-- once, by the rule. What can never run is skipped. The caller holds the jobs, and opens lanes and pools.
create or replace function weir._write_job_tasks(specs weir.task_spec[], of uuid[], base int, known_keys text[],
  known_ids uuid[], t timestamptz, out ids uuid[], out lanes text[], out pools text[])
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = off
set enable_mergejoin = off
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  stem text;
  planning boolean;
  skip uuid[];
begin
  -- As weir._submit: the time of the event is that of the ids.
  t := date_trunc('milliseconds', t);
  stem := weir._id_prefix(t);
  ids := array(select (stem || lpad(to_hex(g & 4095), 3, '0') || substr(gen_random_uuid()::text, 19))::uuid
    from generate_series(1, cardinality(specs)) g);
  with j as materialized (
    -- By itself, and named and known too, for beside a loop that must be, the planner does not mind another one.
    select j.*
    from (select distinct o from unnest(of) o) o (job),
      lateral (select j.id, j.order_seq, j.priority, j.trace from weir.jobs j where j.id = o.job offset 0) j
  ), s as materialized (
    select s.*, ids[s.ordinality] as id, of[s.ordinality] as job,
      base + row_number() over (partition by of[s.ordinality] order by s.ordinality) as position
    from unnest(specs) with ordinality s
  ), known as materialized (
    select of[1] as job, k.key, k.id, f.outcome is not null as ended, (f.outcome = 'done' or f.passes is true) as fine
    from unnest(known_keys, known_ids) k (key, id)
    left join lateral (select f.outcome, f.passes from weir.finished f where f.task = k.id offset 0) f on true
    union all
    select s.job, s.key, s.id, false, null from s
  ), named as materialized (
    select s.job, s.id as task, w.key, w.n from s, unnest(s.needs) with ordinality w (key, n)
  ), link as materialized (
    select n.task, n.n, k.id, k.ended, k.fine from named n join known k on k.key = n.key and k.job = n.job
  ), w as materialized (
    select l.task as id, array_agg(l.id order by l.n) as needs, count(*) filter (where not l.ended)::int as unmet,
      coalesce(bool_or(l.ended and not l.fine), false) as broken
    from link l group by l.task
  ), i as (
    insert into weir.tasks (id, order_seq, class, position, max_attempts, job, key, params, run_at, hold, lane, rank,
      exclusive, pool, timeout, backoff, backoff_cap, orphan_stops, rule, needs, trace, plan, run)
    select s.id, j.order_seq, c.id, s.position, s.max_attempts, j.id, s.key, coalesce(s.params, '{}'), s.run_at, s.hold,
      s.lane, s.rank, s.exclusive, s.pool, s.timeout, s.backoff, s.backoff_cap, nullif(s.orphan = 'stop', false),
      case when w.needs is not null then coalesce(s.rule, 'all_success') end, w.needs,
      coalesce(s.trace, j.trace), nullif(s.plan, false), s.run
    from s join j on j.id = s.job
    left join weir.classes c on c.service = s.service and c.priority = coalesce(s.priority, j.priority)
      and c.labels = coalesce(s.labels, '{}')
      left join w on w.id = s.id
    order by s.ordinality
    returning *
  ), r as (
    select i.*, coalesce(w.unmet, 0) as unmet, coalesce(w.broken, false) as broken,
      case when i.needs is null then 'go' when i.rule = 'one_failed' and w.broken then 'go'
        when i.rule = 'one_failed' and w.unmet = 0 then 'skip'
        when i.rule = 'all_success' and w.broken then 'skip' when w.unmet = 0 then 'go' else 'wait' end as turn
    from i left join w on w.id = i.id
  ), g as (
    select r.*,
      case when r.turn = 'go' then weir._next_gate(r.plan, r.run_at, r.hold, r.lane, r.pool, t) else 'needs' end as gate
    from r
  ), a as (
    insert into weir.available (order_seq, task, class, position, attempt)
    select g.order_seq, g.id, -g.class, g.position, 0 from g where g.gate is null
  ), p as (
    insert into weir.pending (task, order_seq, class, position, priority, attempt, gate, since, unmet, broken, rule,
      run_at, hold, lane, rank, exclusive, pool, job, plan)
    select g.id, g.order_seq, g.class, g.position, c.priority, 0, g.gate, t,
      case when g.turn = 'wait' then g.unmet else 0 end, g.broken, g.rule, g.run_at, g.hold,
      g.lane, g.rank, case when g.lane is not null then coalesce(g.exclusive, false) end, g.pool, g.job, g.plan
    from g join weir.classes c on c.id = g.class where g.gate is not null
  ), d as (
    insert into weir.edges (need, task)
    select l.id, l.task from link l join g on g.id = l.task where g.turn = 'wait' and not l.ended
  ), e as (
    insert into weir.events (at, type, job, tasks)
    select t, case when g.gate is null then 'submitted' else 'gated' end, g.job, array_agg(g.id) from g
    group by g.job, g.gate is null
  )
  select array_agg(distinct g.lane) filter (where g.gate = 'lane'),
    array_agg(distinct g.pool) filter (where g.gate = 'pool'), bool_or(g.gate = 'plan'),
    array_agg(g.id) filter (where g.turn = 'skip')
  into lanes, pools, planning, skip from g;
  if planning then
    perform pg_notify('weir_plan', '');
  end if;
  if skip is not null then
    perform weir._close(array(
      select weir._finished_row(p.task, t, 0, 'skipped',
        coalesce((select format('need %s is %s', coalesce(q.key, q.id::text), f.outcome)
            from weir.tasks s, unnest(s.needs) n (id), weir.tasks q, weir.finished f
          where p.rule = 'all_success' and s.id = p.task and q.id = n.id and f.task = n.id and f.outcome <> 'done'
            and f.passes is not true limit 1), 'no need failed'))
      from weir.pending p where p.task = any (skip)));
    delete from weir.pending p where p.task = any (skip);
    select * into lanes, pools from weir._settle(skip, lanes, pools, t);
  end if;
end $$;
comment on function weir._write_job_tasks is 'Writes tasks that join jobs.';
