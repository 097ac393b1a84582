-- Why a task is not where somebody wants it: one row per gate, in the order it passes them, each open or closed with a reason a person can read,
-- the task that blocks it and since when; then whether anybody can take it. The gates are the same conditions that weir._open tests.
create or replace function weir.why(task uuid, at timestamptz default null)
returns table (gate text, open boolean, reason text, blocker uuid, since timestamptz)
language plpgsql stable security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(why.at);
  q weir.tasks;
  p weir.pending;
  c weir.classes;
  state weir.state := weir._state_of(why.task);
  b record;
begin
  if state is null then
    perform weir._not_found('task', why.task::text);
  end if;
  select * into q from weir.tasks x where x.id = why.task;
  select * into p from weir.pending x where x.task = why.task;
  select * into c from weir.classes x where x.id = q.class;

  if state in ('done', 'failed', 'canceled', 'skipped') then
    return query select 'ended', true, case when f.cause like f.outcome || ' %' then f.cause else concat_ws(': ', f.outcome, f.cause) end, null::uuid, f.at from weir.finished f where f.task = q.id;
    return;
  end if;
  -- First what is wrong with it, if anything is.
  return query select 'engine', false, format('it could not be moved and was set aside: %s; tried %s times, again at %s', s.error, s.tries, to_char(s.next_at at time zone 'UTC', 'HH24:MI:SS UTC')), null::uuid, s.since
  from weir.set_aside s where s.task = q.id;
  q.needs := coalesce(q.awaits, q.needs);
  if q.needs is not null then
    -- A few are named: a task may need thousands.
    select (select count(*) from weir.edges e where e.task = why.task) as n, min(f.id::text)::uuid as id,
      string_agg(format('%s (%s)', coalesce(f.key, f.id::text), weir._state_of(f.id)), ', ' order by f.position) as names
    into b from (select x.id, x.key, x.position from weir.edges e join weir.tasks x on x.id = e.need where e.task = why.task order by x.position limit 10) f;
    return query select 'needs', b.n = 0, case when b.n = 0 then format('%s needs have ended', cardinality(q.needs))
      else format('waits for %s of %s: %s%s', b.n, cardinality(q.needs), b.names, concat(case when b.n > 10 then format(' and %s more', b.n - 10) end,
        case when b.n > 0 and exists (select from weir.unsettled u where u.job = q.job) then '; an end in its job is being told on, step by step' end)) end, b.id, case when b.n > 0 then p.since end;
  end if;
  if q.plan is not null then
    return query select * from weir._why_plan(q, p);
  end if;
  if p.run_at is not null or q.run_at is not null then
    return query select 'time', coalesce(p.run_at, q.run_at) <= t or state <> 'pending',
      case when state = 'pending' and p.run_at > t then format('not before %s, in %s%s', to_char(p.run_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS UTC'),
        weir._span(p.run_at - t), coalesce((select format(': attempt %s %s', e.attempt, concat_ws(': ', case e.type when 'snoozed' then 'was snoozed' else 'failed' end, left(e.message, 200)))
          from weir.events e where e.task = q.id and e.type in ('retrying', 'snoozed') and e.attempt = p.attempt order by e.seq desc limit 1), ''))
      else 'its time has come' end, null::uuid, case when p.run_at > t then p.since end;
  end if;
  if p.hold is not null or q.hold is not null then
    return query select 'hold', p.hold is null, coalesce(case when exists (select from weir.jobs j where j.id = q.job and j.watched) then p.hold else 'held by ' || p.hold end, 'released'), null::uuid, case when p.hold is not null then p.since end;
  end if;
  if q.lane is not null and q.rank is not null then
    select x.* into b from (
      select o.task, o.rank, 'pending' as state, o.since from weir.pending o where o.lane = q.lane and o.rank < q.rank
      union all select o.task, o.rank, o.state, o.since from weir._lane_holder o where o.lane = q.lane and o.rank < q.rank and o.state in ('running', 'available')
      union all select o.task, o.rank, 'failed, and nobody has decided', o.at from weir.lane_blocks o where o.lane = q.lane and o.rank < q.rank
      order by 2 limit 1) x;
    return query select 'order', b.task is null or state <> 'pending', case when b.task is null or state <> 'pending' then format('nothing comes before it in lane %s', q.lane)
      else format('%s comes first in lane %s and is %s', coalesce(weir._why_name(b.task, q.job), 'another task'), q.lane, b.state) end, case when state = 'pending' then b.task end, case when state = 'pending' then b.since end;
  end if;
  if q.lane is not null then
    select o.task, o.state, o.since into b from weir._lane_holder o where o.lane = q.lane and o.task <> q.id and (q.exclusive or o.exclusive) order by o.since limit 1;
    if b.task is null and p.gate = 'lane' then
      select o.task, 'next in the lane' as state, o.since into b from weir.pending o where o.lane = q.lane and o.gate = 'lane'
      order by o.rank, o.priority desc, o.order_seq, o.position limit 1;
      if b.task = q.id then
        b.task := null;
      end if;
    end if;
    return query select 'exclusion', b.task is null or state <> 'pending', case when b.task is null and p.gate = 'lane' and k.holder is not null then format('lane %s is free, and is opened after the end of %s', q.lane, k.holder)
      when b.task is null or state <> 'pending' then format('lane %s is free', q.lane)
      when b.state = 'next in the lane' then format('%s is next in lane %s', coalesce(weir._why_name(b.task, q.job), 'another task'), q.lane)
      else format('%s has lane %s and is %s', coalesce(weir._why_name(b.task, q.job), 'another task'), q.lane, b.state) end, case when state = 'pending' then b.task end, case when state = 'pending' then b.since end
    from (select weir._key_holder(true, q.lane) as holder) k;
  end if;
  if p.pool is not null or q.pool is not null then
    return query select * from weir._why_pool(coalesce(p.pool, q.pool), p, t);
  end if;
  if state = 'available' then
    return query select * from weir._why_unclaimed(q, c, t);
  elsif state = 'running' then
    return query select 'lease', true, format('attempt %s runs on %s until %s%s', r.attempt, w.name, to_char(r.until at time zone 'UTC', 'HH24:MI:SS UTC'),
      case when r.cancel_at is not null then ', asked to stop' else '' end), null::uuid, r.claimed_at
    from weir.running r join weir.workers w on w.id = r.worker where r.task = q.id;
    return query select 'database', false, g.says, null::uuid, g.says_since from weir.running r join weir.rollout_runs g on g.task = r.task and g.attempt = r.attempt where r.task = q.id and g.says is not null;
  end if;
end $$;
comment on function weir.why is 'Why a task waits: each gate, open or closed, with reason, blocker and since when.';
