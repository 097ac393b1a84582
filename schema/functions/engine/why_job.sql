-- Why a job is not further: for a queued one, when it is due and what else it waits for; for one that runs, how many tasks stand at each gate, with what stops
-- the first of them, how many may start and how many run.
create or replace function weir.why_job(job uuid, at timestamptz default null)
returns table (gate text, open boolean, reason text, blocker uuid, since timestamptz)
language plpgsql stable security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(why_job.at);
  j weir.jobs;
  l weir.job_live;
  s record;
begin
  select * into j from weir.jobs x where x.id = why_job.job;
  if not found then
    perform weir._not_found('job', why_job.job::text);
  end if;
  select * into l from weir.job_live x where x.job = j.id;
  if not found then
    return query select 'ended', true, concat_ws(': ', f.outcome, f.cause), null::uuid, f.at from weir.job_finished f where f.job = j.id;
    return;
  end if;
  if l.fleet and l.due is not null then
    return query select 'fleet', false, w.why, null::uuid, j.created_at from weir.fleet_why(j.id, 1, at => why_job.at) w where w.device is null limit 1;
    return;
  end if;
  if l.due is not null then
    return query select 'time', l.due <= t, case when l.due <= t then 'its time has come'
      else format('due at %s, in %s', to_char(l.due at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS UTC'), weir._span(l.due - t)) end, null::uuid, case when l.due > t then j.created_at end;
    return query select 'build', false, coalesce(l.note, case when l.due <= t then 'the server has yet to build it' else 'it is built when it is due' end), null::uuid, greatest(l.due, j.created_at);
    return query select 'worker', false, format('waiting for node %s to wake, %s', n.name, weir._span(t - n.wake_at)), null::uuid, n.wake_at
    from weir.nodes n
    where n.wake_state = 'waking' and exists (
      select from weir.workflows w, jsonb_array_elements(w.definition -> 'steps') step where w.id = j.definition and n.capacity ? (step ->> 'service'))
    order by n.wake_at;
    return;
  end if;
  for s in
    select x.place, count(*) as n, (array_agg(x.id order by x.position))[1] as task, (array_agg(coalesce(x.key, x.id::text) order by x.position))[1] as name, min(x.since) as since
    from (
      select q.id, q.key, q.position, coalesce(p.gate::text, case when r.task is not null then 'running' else 'available' end) as place, coalesce(p.since, r.claimed_at, a.opened_at, weir._id_time(q.id)) as since
      from weir.tasks q
      left join lateral (select * from weir.pending p where p.task = q.id offset 0) p on true
      left join lateral (select * from weir.running r where r.task = q.id offset 0) r on true
      left join lateral (select * from weir.available a where a.class in (q.class, -q.class) and a.order_seq = q.order_seq and a.position = q.position offset 0) a on true
      where q.job = j.id and (p.task is not null or r.task is not null or a.task is not null)
    ) x
    group by x.place order by array_position(array['running', 'available', 'needs', 'plan', 'time', 'hold', 'lane', 'pool'], x.place)
  loop
    return query select case s.place when 'running' then 'lease' when 'available' then 'worker' else s.place end, s.place = 'running' or coalesce(w.open, true),
      format('%s: %s: %s', case when s.n = 1 then '1 task' else format('%s tasks', s.n) end, s.name, w.reason), coalesce(w.blocker, case when s.place <> 'running' then s.task end), s.since
    from (select 1) one left join lateral (
      select w.* from weir.why(s.task, at => why_job.at) w where w.gate in (case s.place when 'running' then 'lease' when 'available' then 'worker' else s.place end, case when s.place = 'lane' then 'order' end, case when s.place = 'lane' then 'exclusion' end)
      order by w.open limit 1
    ) w on true;
  end loop;
  if l.cancel_at is not null then
    return query select 'cancel', false, 'somebody cancelled it: it ends when its workers have stopped', null::uuid, l.cancel_at;
  end if;
end $$;
comment on function weir.why_job is 'Why a job is where it is: its time, its gates, its workers.';
