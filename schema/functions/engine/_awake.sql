-- Whether a node is awake: it was seen within 30 s, and since it was woken or told to sleep. Going to sleep may take it
-- a minute, in which it is still heard.
create or replace function weir._awake(n weir.nodes, t timestamptz) returns boolean
language sql immutable
as $$
  select n.seen_at >= t - interval '30 s' and case
    when n.wake_state = 'waking' then n.seen_at >= n.wake_at
    when n.wake_state = 'asleep' then n.seen_at > n.wake_at
      + case when n.wake_tries = 0 then interval '60 s' else '0' end
    else true end
$$;
comment on function weir._awake is 'Whether a node is awake.';
