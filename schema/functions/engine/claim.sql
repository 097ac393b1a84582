-- Leases up to n tasks to a worker, in the global order: priority, order_seq, position.
-- services says what the worker can do and slots (one per service; null: n) how many of each it has free.
-- gated tells the worker that the end of this task may open others: whoever waits for work should be told.
-- run is how the work is to be run, for a worker that is an agent; null: the worker knows. A node also has the label
-- node, its name.
-- claim_id makes a lost reply safe: the same claim_id again returns the same leases. It is also their token.
-- The statement's form is what makes it fast (docs/decisions/0001): one ordered look-up per class, delete by ctid,
-- look-up by id. A test pins its plan.
-- It locks what it takes and nothing else, so that beside a claim that has not committed the next one finds the rest.
create or replace function weir.claim(worker text, services text[], n int default 1, slots int[] default null,
  claim_id uuid default null, lease interval default '30 s', at timestamptz default null)
returns table (task uuid, attempt int, token uuid, service text, params jsonb, job uuid, key text, until timestamptz,
  deadline timestamptz, max_attempts int, claimed_at timestamptz, trace text, gated boolean, run jsonb)
language plpgsql security definer
set search_path = weir, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz;
  w weir.workers;
  nd weir.nodes;
  fence uuid := coalesce(claim_id, gen_random_uuid());
  taken int;
  free int[];
  has jsonb;
  keys int[];
  firsts bigint[];
  priorities smallint[];
  of int[];
  picked tid[];
  crowded int[];
  newest bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
begin
  if coalesce(n, 0) < 1 or coalesce(cardinality(services), 0) = 0 or coalesce(lease, '0') <= interval '0'
    or cardinality(slots) <> cardinality(services) then
    perform weir._invalid('claim', 'n and lease must be positive, services not empty, slots as many as services');
  end if;
  perform weir._check(weir._bad_span('lease', lease));
  if 'fleet' = any (services) then
    perform weir._invalid('services', 'tasks of the fleet need a device',
      hint => 'claim them for a PC: weir.fleet_claim');
  end if;
  if claim.at is not null then
    perform weir._clock(claim.at); -- not everybody may say so, also when there is nothing to claim
  end if;
  free := coalesce(slots, array_fill(n, array[cardinality(services)]));
  select * into w from weir.workers x where x.name = worker;
  if not found then
    w := weir._worker(worker, services, weir._clock(claim.at));
  end if;
  if claim_id is not null then
    -- One claim of a worker at a time, so that the repeat of a claim still under way waits for it and then finds its
    -- leases.
    perform pg_advisory_xact_lock(88, w.id);
    select * into w from weir.workers x where x.id = w.id;
    if w.last_claim = claim_id then
      return query select * from weir._leases_of_claim(w.id, fence);
      return;
    end if;
  end if;
  if w.node is not null then
    -- The lock on the node's row is a write, and an idle poll writes nothing: look first.
    if not exists (
      select from unnest(services) s (service) join weir.classes c on c.service = s.service,
        lateral (values (c.id, c.floor), (-c.id, weir._opened_floor(c, newest))) k (class, floor)
      where exists (select from weir.available a where a.class = k.class and a.order_seq >= k.floor))
    then
      return;
    end if;
    select * into nd from weir.nodes x where x.id = w.node for no key update;
    t := weir._clock(claim.at);
    if nd.mode <> 'active' and coalesce(nd.mode_until, 'infinity') > t then
      return;
    end if;
    free := array(
      select least(f,
        (nd.capacity ->> s)::int
          - (select count(*)::int from weir.running r join weir.classes c on c.id = r.class
            where r.node = nd.id and c.service = s))
      from unnest(services, free) x (s, f));
  end if;

  has := w.labels || coalesce(nd.labels || jsonb_build_object('node', nd.name), '{}');

  -- Which keys have something, and where it begins: an empty claim ends here, and nothing walks over the dead rows
  -- before it again.
  -- Under -class it begins at the floor or at what came there since the mark. A mark that is ahead is of another
  -- cluster, and says nothing here.
  select array_agg(v.class), array_agg(a.order_seq), array_agg(c.priority), array_agg(s.i),
    array_agg(c.id) filter (where v.moves > 100 or v.moves > 0 and a.order_seq - v.floor > 1000)
  into keys, firsts, priorities, of, crowded
  from unnest(services, free) with ordinality s (service, free, i) join weir.classes c on c.service = s.service,
    lateral (
      select c.id as class, c.floor, 0 as moves
      union all
      select -c.id, least(c.opened_floor, min(m.low)), count(*) from weir.class_moves m
      where m.class = c.id and m.xid >= case when c.opened_mark > newest then 0 else c.opened_mark end
    ) v,
    lateral (select a.order_seq from weir.available a where a.class = v.class and a.order_seq >= v.floor
      order by a.order_seq, a.position limit 1) a
  where s.free > 0 and c.labels <@ has;
  if keys is null then
    return;
  end if;
  if cardinality(keys) > 1 then
    picked := weir._pick(keys, firsts, priorities, of, free, n);
  end if;

  return query
  with c as materialized (
    select a.ctid as row from weir.available a
    where a.class = keys[1] and a.order_seq >= firsts[1]
    order by a.order_seq, a.position limit least(free[of[1]], n)
    for update skip locked
  ), d as (
    delete from weir.available a where a.ctid = any (coalesce(picked, array(select c.row from c)))
    returning a.task, a.class, a.order_seq, a.position, a.attempt, a.opened_at, a.lane, a.pool
  ), moment as materialized (
    -- Once the tasks are ours, so that none is claimed before it was submitted, or before another one ended and let it
    -- through.
    select weir._clock(claim.at) as t from (select count(*) as n from d) x where x.n > 0
  ), j as (
    select d.task, abs(d.class) as class, least(d.attempt + 1, 32767)::smallint as attempt, d.opened_at, d.lane, d.pool,
      d.order_seq, d.position, q.*
    from d, lateral (
      select q.job, q.key, q.params, q.timeout, q.orphan_stops, q.max_attempts, q.unique_key, q.trace, q.rank,
        q.exclusive, q.run
      from weir.tasks q where q.id = d.task offset 0
    ) q
  ), r as (
    insert into weir.running (task, token, claimed_at, until, worker, attempt, keyed, exclusive, orphan_stops, deadline,
      opened_at, node, class, job, lane, rank, pool)
    select j.task, fence, m.t, m.t + lease, w.id, j.attempt, case when j.unique_key is not null then true end,
      case when j.lane is not null then coalesce(j.exclusive, false) end, j.orphan_stops,
      m.t + j.timeout, j.opened_at, w.node, case when w.node is not null then j.class end, j.job, j.lane, j.rank, j.pool
    from moment m, j
  ), s as (
    -- A pool with a rate counts starts: see weir._open_pools.
    insert into weir.starts (pool, at, n)
    select j.pool, m.t, count(*) from moment m, j
    where j.pool is not null and (select p.rate from weir.pools p where p.name = j.pool) is not null
    group by j.pool, m.t
  ), e as (
    insert into weir.events (at, type, worker, attempt, job, tasks)
    select m.t, 'claimed', w.id, j.attempt, j.job, array_agg(j.task) from moment m, j group by m.t, j.attempt, j.job
  ), u as (
    update weir.workers x set last_claim = fence, seen_at = m.t from moment m where x.id = w.id
  )
  select j.task, j.attempt::int, fence, c.service, j.params, j.job, j.key, m.t + lease, m.t + j.timeout,
    coalesce(j.max_attempts, 3), m.t, j.trace, (j.job is not null or j.lane is not null or j.pool is not null), j.run
  from moment m, j join weir.classes c on c.id = j.class order by c.priority desc, j.order_seq, j.position;

  -- About once in 5,000 tasks: claims leave dead rows behind, and the next claim should not walk over them.
  get diagnostics taken = row_count;
  if random() < taken / 5000.0 then
    perform weir._raise_floors();
  end if;
  if crowded is not null and current_setting('transaction_isolation') = 'read committed'
    and pg_try_advisory_xact_lock(86, 1) then
    perform weir._mark_classes(crowded);
  end if;
end $$;
comment on function weir.claim is
  'Leases up to n tasks of these services to a worker and returns them in order. The same claim_id again returns the '
  'same leases.';
