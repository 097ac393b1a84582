-- What nodes that sleep or are gone have to do with it that nobody takes a task: which one is being woken, will be,
-- does not wake, or cannot be woken. Null: no node could do it.
create or replace function weir._why_asleep(service text, labels jsonb, t timestamptz, out reason jsonb,
  out since timestamptz)
language sql stable
set search_path = weir, pg_temp
as $$
  select jsonb_build_object('name', n.name) || case
      when n.wake_method is null then jsonb_build_object('code', 'node_unseen', 'for', weir._seconds(t - n.seen_at))
      when n.wake_state = 'waking' then jsonb_build_object('code', 'node_waking', 'for', weir._seconds(t - n.wake_at))
      when n.wake_tries > 0 then jsonb_build_object('code', 'node_deaf', 'n', n.wake_tries,
        'error', coalesce(to_jsonb(left(n.wake_note, 300)), '{"code": "unknown"}'),
        'next', case when weir._wake_next(n) > t then weir._seconds(weir._wake_next(n) - t) end)
      else jsonb_build_object('code', 'node_asleep') end,
    case when n.wake_state = 'waking' then n.wake_at else n.seen_at end
  from weir.nodes n where weir._serves(n, _why_asleep.service, _why_asleep.labels, _why_asleep.t)
    and not weir._awake(n, t)
  order by n.wake_method is null, n.wake_state = 'waking' desc, n.wake_tries, n.name limit 1
$$;
comment on function weir._why_asleep is 'Which sleeping node a task waits for.';
