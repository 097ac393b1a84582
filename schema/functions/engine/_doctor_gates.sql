-- Lanes, ranks and pools hold at this instant, and every pending task stands at a gate that it has.
create or replace function weir._doctor_gates() returns table (name text, ok boolean, level text, detail text)
language plpgsql stable
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  return query select * from weir._doctor('an exclusive task has its lane alone', array(
    select format('lane %s is held by %s', h.lane, string_agg(h.task::text, ' and ')) from weir._lane_holder h
    group by h.lane having bool_or(h.exclusive) and count(*) > 1));

  return query select * from weir._doctor('no rank overtakes a lower one', array(
    select format('%s (rank %s of lane %s) goes before %s (rank %s)', h.task, h.rank, h.lane, l.task, l.rank)
    from weir._lane_holder h, lateral (
      select p.task, p.rank, p.since as at from weir.pending p where p.lane = h.lane and p.rank < h.rank
      union all select b.task, b.rank, b.at from weir.lane_blocks b where b.lane = h.lane and b.rank < h.rank
    ) l
    -- A lower rank that was submitted or retried after the higher one had passed the lane is late, not overtaken.
    where h.state in ('running', 'available') and l.at < h.opened_at and l.at < weir._lane_since(h.task, h.opened_at)));

  return query select * from weir._doctor('no pool is over its size', array(
    select format('pool %s: %s of %s', p.name, x.n, p.size) from weir.pools p, lateral (
      select count(*) as n from (
        select task, opened_at from weir.available a where a.pool = p.name
        union all select task, opened_at from weir.running r where r.pool = p.name
      ) o
      -- What was handed back has kept its place, which it may have had before the pool shrank.
      where o.opened_at > p.resized_at and not exists (select from weir.forgiven f where f.task = o.task)
    ) x where x.n > p.size));

  return query select * from weir._doctor('a pool knows who holds it', array(
    select format('pool %s: counted %s, held by %s: select weir.repair_floors()', p.name, p.held + m.held, x.n)
    from weir.pools p,
      lateral (select coalesce(sum(m.held), 0) as held from weir.pool_moves m
        where m.pool = p.name and m.xid >= p.mark) m,
      lateral (select (select count(*) from weir.available a where a.pool = p.name)
        + (select count(*) from weir.running r where r.pool = p.name) as n) x
    where p.held is not null and p.held + m.held <> x.n));

  return query select * from weir._doctor('no pool starts more than its rate', array(
    select format('pool %s: %s started within %s, at most %s may', p.name, x.n, p.per, p.rate) from weir.pools p
    join weir.starts s on s.pool = p.name, lateral (
      -- A little less than the interval: starts of a 64th of it stand together at the time of the last
      -- (weir._tidy_starts).
      select sum(o.n) as n from weir.starts o where o.pool = p.name and o.at > s.at - p.per * 31 / 32 and o.at <= s.at
    ) x where s.at > p.resized_at + p.per and x.n > p.rate));

  return query select * from weir._doctor('a pending task stands at a gate it has', array(
    select format('%s stands at %s', p.task, p.gate) from weir.pending p
    where p.gate = 'needs' and p.rule is null or p.gate = 'plan' and p.plan is not true
      or p.gate = 'time' and p.run_at is null or p.gate = 'hold' and p.hold is null
      or p.gate = 'lane' and p.lane is null or p.gate = 'pool' and p.pool is null));

  return query select * from weir._doctor('a task is planned before it goes on', array(
    select format('%s stands at %s and has yet to be planned', p.task, p.gate) from weir.pending p
    where p.plan and p.gate not in ('needs', 'plan')
    union all
    select format('%s waits for a plan, its task says %s', p.task, coalesce(q.plan::text, 'it needs none'))
    from weir.pending p, lateral (select q.plan from weir.tasks q where q.id = p.task offset 0) q
    where p.plan and q.plan is not true));
end $$;
comment on function weir._doctor_gates is 'Invariants of lanes, ranks and pools.';
