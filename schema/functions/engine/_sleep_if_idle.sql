-- Whether a node is to go to sleep, asked at its heartbeat. True once it has had nothing to do for sleep_after and
-- there is nothing to do for it within five minutes; the node is marked asleep then, and every heartbeat of the next
-- minute hears the same. What it claimed between two heartbeats counts as something to do.
create or replace function weir._sleep_if_idle(node int, t timestamptz) returns boolean
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  n weir.nodes;
  mark text;
begin
  select * into n from weir.nodes x where x.id = _sleep_if_idle.node;
  if n.sleep_after is null or n.wake_method is null then
    return false;
  end if;
  if n.wake_state = 'asleep' and n.wake_tries = 0 and n.wake_at > t - interval '60 s' then
    return true;
  end if;
  select string_agg(w.last_claim::text, ' ' order by w.id) into mark from weir.workers w
  where w.node = n.id and w.seen_at > t - interval '1 day';
  if n.busy_at is null or mark is distinct from n.busy_mark
    or exists (select from weir.running r where r.node = n.id) then
    update weir.nodes x set busy_at = t, busy_mark = mark where x.id = n.id;
    return false;
  end if;
  -- It may just have been woken for something.
  if greatest(n.busy_at, case when n.wake_state in ('awake', 'waking') then n.wake_at end) + n.sleep_after > t then
    return false;
  end if;
  -- What another can do as well keeps nobody awake.
  if exists (select from weir._unserved_work('5 min', t, n.id) w where weir._serves(n, w.service, w.labels, t)) then
    return false;
  end if;
  perform weir._note_wake(n.name, 'asleep', format('nothing to do for %s', weir._span(t - n.busy_at)), null, null, t);
  return true;
end $$;
comment on function weir._sleep_if_idle is 'Whether a node is to go to sleep now; marks it asleep.';
