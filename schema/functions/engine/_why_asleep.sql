-- What nodes that sleep or are gone have to do with it that nobody takes a task: which one is being woken, will be, does not wake, or cannot be woken. Null: no node could do it.
create or replace function weir._why_asleep(service text, labels jsonb, t timestamptz, out reason text, out since timestamptz)
language sql stable
set search_path = weir, pg_temp
as $$
  select case
      when n.wake_method is null then format('node %s could, but was not seen for %s', n.name, weir._span(t - n.seen_at))
      when n.wake_state = 'waking' then format('waiting for node %s to wake, %s', n.name, weir._span(t - n.wake_at))
      when n.wake_tries > 0 then format('node %s could, but does not wake: tried %s, last error: %s%s', n.name, case when n.wake_tries = 1 then 'once' else n.wake_tries || ' times' end,
        coalesce(left(n.wake_note, 300), 'unknown'), case when weir._wake_next(n) > t then '; next try in ' || weir._span(weir._wake_next(n) - t) else '' end)
      else format('node %s could and sleeps; it is about to be woken', n.name) end,
    case when n.wake_state = 'waking' then n.wake_at else n.seen_at end
  from weir.nodes n where weir._serves(n, _why_asleep.service, _why_asleep.labels, _why_asleep.t) and not weir._awake(n, t)
  order by n.wake_method is null, n.wake_state = 'waking' desc, n.wake_tries, n.name limit 1
$$;
comment on function weir._why_asleep is 'Which sleeping node a task waits for.';
