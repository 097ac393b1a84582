-- Tasks, leases, jobs and keys agree with one another. sample: of what has ended, look only at these tasks. Tables of
-- history are read by lookups: (select … ) is null and lateral … offset 0 are never planned as a join of all of it.
create or replace function weir._doctor_states(sample uuid[])
returns table (name text, ok boolean, level text, detail text)
language plpgsql stable
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  return query select * from weir._doctor('a task is in exactly one state', array(
    with places as materialized (
      select task, 'pending' as place from weir.pending
      union all select task, 'available' from weir.available
      union all select task, 'running' from weir.running
    ), keys as (
      select unnest(sample) as task union all select q.id from weir.tasks q where sample is null
    )
    select format('%s is in %s', x.task, string_agg(x.place, ' and ')) from (
      select * from places
      union all select p.task, 'finished' from (select distinct task from places) p
      where (select true from weir.finished f where f.task = p.task)
    ) x group by x.task having count(*) > 1
    union all
    select format('%s is in no state', x.task) from (
      select k.task from keys k
      where (select true from weir.finished f where f.task = k.task) is null except select p.task from places p
    ) x
    union all
    select format('%s is %s but was never submitted', p.task, p.place) from places p
    where (select true from weir.tasks q where q.id = p.task) is null));

  return query select * from weir._doctor('a row agrees with its task', array(
    select format('%s has class %s in available, %s as a task', a.task, a.class, q.class)
    from weir.available a, lateral (select * from weir.tasks q where q.id = a.task offset 0) q
    where abs(a.class) <> q.class or a.order_seq <> q.order_seq or a.position <> q.position
    union all
    select format('%s has class %s in pending, %s as a task', p.task, p.class, q.class)
    from weir.pending p, lateral (select * from weir.tasks q where q.id = p.task offset 0) q
    where p.class <> q.class or p.order_seq <> q.order_seq));

  return query select * from weir._doctor('a lease has an attempt, a worker and an end', array(
    select format('%s attempt %s', r.task, r.attempt) from weir.running r
    where r.attempt < 1 or not exists (select from weir.workers w where w.id = r.worker)));

  return query select * from weir._doctor('no node runs more than its capacity', array(
    select format('%s runs %s of %s, capacity %s', x.name, x.n, x.service, x.capacity ->> x.service) from (
      select n.name, n.capacity, c.service, count(*) as n from weir.running r join weir.nodes n on n.id = r.node
      join weir.classes c on c.id = r.class group by n.name, n.capacity, c.service
    ) x where x.n > (x.capacity ->> x.service)::int));

  return query select * from weir._doctor('a floor hides no task', array(
    select format('%s is below the floor of %s: select weir.repair_floors()', h.task,
      coalesce('pool ' || h.pool, 'class ' || abs(h.class)))
    from weir._hidden h
    union all
    -- Numbers that a session keeps for later would be drawn without the order that weir._take_horizon trusts.
    select format('weir.order_seq caches %s numbers: alter sequence weir.order_seq cache 1', s.seqcache)
    from pg_catalog.pg_sequence s
    where s.seqrelid = 'weir.order_seq'::regclass and s.seqcache > 1));

  return query select * from weir._doctor('needs are counted right', array(
    select format('%s waits for %s needs, %s are left', p.task, p.unmet, e.n)
    from weir.pending p, lateral (select count(*) as n from weir.edges e where e.task = p.task) e
    where e.n <> p.unmet and (p.gate = 'needs' or e.n > 0)
    union all
    select format('%s needs %s, which has ended', e.task, e.need) from weir.edges e
    where (select true from weir.finished f where f.task = e.need)
      and not exists (select from weir.unsettled u where u.task = e.need)
    union all
    select format('%s has needs but does not wait', e.task) from weir.edges e
    where not exists (select from weir.pending p where p.task = e.task and p.gate = 'needs')));

  return query select * from weir._doctor('a job counts its tasks right', array(
    with keys as (
      select q.id, q.job
      from unnest(sample) u (task), lateral (select * from weir.tasks q where q.id = u.task offset 0) q
      union all select q.id, q.job from weir.tasks q where sample is null
    )
    select format('job %s says %s/%s/%s/%s, has %s/%s/%s/%s', l.job, l.done, l.failed, l.canceled, l.skipped, x.done,
      x.failed, x.canceled, x.skipped)
    from weir.job_live l, lateral (
      select count(*) filter (where f.outcome = 'done') as done, count(*) filter (where f.outcome = 'failed') as failed,
        count(*) filter (where f.outcome = 'canceled') as canceled,
        count(*) filter (where f.outcome = 'skipped') as skipped, count(*) as total
      from weir.tasks q left join lateral (select * from weir.finished f where f.task = q.id offset 0) f on true
      where q.job = l.job
    ) x
    -- A fleet job counts units, most of which have no task yet: see weir._doctor_fleets.
    where l.fleet is not true
      and (l.done, l.failed, l.canceled, l.skipped, l.total) <> (x.done, x.failed, x.canceled, x.skipped, x.total)
      or l.fleet is not true and x.done + x.failed + x.canceled + x.skipped = x.total and l.due is null
    union all
    select format('job %s has ended, its task %s has not', k.job, k.id) from keys k
    where k.job is not null and (select true from weir.finished e where e.task = k.id) is null
      and (select true from weir.job_finished f where f.job = k.job)
    union all
    select format('job %s lives and has ended', l.job) from weir.job_live l
    where (select true from weir.job_finished f where f.job = l.job)));

  return query select * from weir._doctor('a queued job has no tasks', array(
    select format('job %s is %s and has %s tasks', l.job, case when l.due is not null then 'queued' else 'built' end,
      l.total)
    from weir.job_live l where (l.due is not null) <> (l.total = 0)));

  return query select * from weir._doctor('a live task holds its unique key', array(
    select format('%s lives without its unique key %s, which %s', l.task, q.unique_key,
      coalesce((select 'belongs to ' || u.task from weir.unique_keys u join weir.classes c on c.service = u.service
          where c.id = q.class and u.key = q.unique_key), 'nobody has'))
    from (select task from weir.pending
      union all select task from weir.available
      union all select task from weir.running) l,
      lateral (select q.unique_key, q.class from weir.tasks q where q.id = l.task offset 0) q
    where q.unique_key is not null and not exists (select from weir.unique_keys u where u.task = l.task)));

  return query select * from weir._doctor('a unique key belongs to a live task', array(
    select format('%s of %s belongs to %s', u.key, u.service, u.task) from weir.unique_keys u
    where (select true from weir.finished f where f.task = u.task)));
end $$;
comment on function weir._doctor_states is 'Invariants of tasks, leases, jobs and keys.';
