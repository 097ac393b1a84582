-- When a node that sleeps may be tried again: at once if it was not tried or was only just told to sleep, else 30 s
-- after the last try failed, then twice as long, up to half an hour.
create or replace function weir._wake_next(n weir.nodes) returns timestamptz
language sql immutable
as $$
  select case when n.wake_tries = 0 or n.wake_at is null then '-infinity'
    else n.wake_at + least(interval '30 s' * 2 ^ least(n.wake_tries - 1, 10), interval '30 min') end
$$;
comment on function weir._wake_next is 'When a node may be tried again.';
