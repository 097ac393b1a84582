-- The time's line of weir.why: not before then, and what the attempt before it said.
create or replace function weir._why_time(q weir.tasks, p weir.pending, t timestamptz)
returns table (gate text, open boolean, reason jsonb, blocker uuid, since timestamptz)
language sql stable
set search_path = weir, pg_temp
as $$
  select 'time', p.task is null or coalesce(p.run_at, q.run_at) <= t, case when p.run_at > t then
      jsonb_build_object('code', 'not_before', 'at', weir._instant(p.run_at), 'in', weir._seconds(p.run_at - t),
        'after', (
        select jsonb_build_object('code', case e.type when 'snoozed' then 'attempt_snoozed' else 'attempt_failed' end,
          'attempt', e.attempt,
          'message', left(e.message, 200),
          'reason', e.data ->> 'reason')
        from weir.events e where e.task = q.id and e.type in ('retrying', 'snoozed') and e.attempt = p.attempt
          order by e.seq desc limit 1))
    else jsonb_build_object('code', 'time_come') end, null::uuid, case when p.run_at > t then p.since end
$$;
comment on function weir._why_time is 'Why a task waits for its time.';
