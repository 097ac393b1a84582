-- The rows of weir.why, with reasons as objects: code and arguments. The gates are the same conditions that weir._open
-- tests.
create or replace function weir._why(of_task uuid, t timestamptz)
returns table (gate text, open boolean, reason jsonb, blocker uuid, since timestamptz)
language plpgsql stable
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  q weir.tasks;
  p weir.pending;
  c weir.classes;
  state weir.state := weir._state_of(of_task);
begin
  if state is null then
    perform weir._not_found('task', of_task::text);
  end if;
  select * into q from weir.tasks x where x.id = of_task;
  select * into p from weir.pending x where x.task = of_task;
  select * into c from weir.classes x where x.id = q.class;

  if state in ('done', 'failed', 'canceled', 'skipped') then
    return query select * from weir._why_ended(q.id);
    return;
  end if;
  -- First what is wrong with it, if anything is.
  return query select 'engine', false, jsonb_build_object('code', 'set_aside', 'error', s.error, 'tries', s.tries,
    'next', weir._instant(s.next_at)),
    null::uuid, s.since
  from weir.set_aside s where s.task = q.id;
  q.needs := coalesce(q.awaits, q.needs);
  if q.needs is not null then
    return query select * from weir._why_needs(q, p);
  end if;
  if q.plan is not null then
    return query select * from weir._why_plan(q, p);
  end if;
  if p.run_at is not null or q.run_at is not null then
    return query select * from weir._why_time(q, p, t);
  end if;
  if p.hold is not null or q.hold is not null then
    return query select 'hold', p.hold is null, coalesce(p.hold_reason, weir._why_ask(p),
        jsonb_build_object('hold', p.hold, 'code', case when p.hold is null then 'released' else 'held' end)),
      null::uuid, case when p.hold is not null then p.since end;
  end if;
  if q.lane is not null then
    return query select * from weir._why_lane(q, p);
  end if;
  if p.pool is not null or q.pool is not null then
    return query select * from weir._why_pool(coalesce(p.pool, q.pool), p, t);
  end if;
  if state = 'available' then
    return query select * from weir._why_unclaimed(q, c, t);
  elsif state = 'running' then
    return query select 'lease', true, jsonb_build_object('code', 'lease', 'attempt', r.attempt, 'worker', w.name,
      'until', weir._instant(r.until),
      'stopping', case when r.cancel_at is not null then '{"code": "stopping"}'::jsonb end,
      'silent', case when w.seen_at < t - interval '30 s'
        then jsonb_build_object('code', 'silent', 'since', weir._instant(w.seen_at)) end), null::uuid, r.claimed_at
    from weir.running r join weir.workers w on w.id = r.worker where r.task = q.id;
    return query select * from weir._why_of('task', (select j.kind from weir.jobs j where j.id = q.job), q.id, t);
  end if;
  -- What happened to earlier attempts that counts against the next one.
  return query select 'lost', true, jsonb_build_object('code', 'lost_before', 'n', f.crashes, 'counted', f.strikes,
    'most', 3), null::uuid, null::timestamptz
  from weir.forgiven f where f.task = q.id and f.crashes > 0;
end $$;
comment on function weir._why is 'Why a task waits, with reasons for programs.';
