-- Nodes with what they run. A node that was not seen for 30 s is dead. wake_state is what weir._awake says, and else
-- what was last noted.
create or replace view weir.node as
select n.name,
  case when n.seen_at < clock_timestamp() - interval '30 s' then 'dead'
    when coalesce(n.mode_until, 'infinity') > clock_timestamp() then n.mode else 'active' end as state,
  n.labels, n.capacity, (select count(*) from weir.running r where r.node = n.id) as running,
  (select count(*) from weir.workers w
    where w.node = n.id and w.stopped_at is null and w.seen_at > clock_timestamp() - interval '30 s') as workers,
  n.note, n.mode_until, n.seen_at, n.registered_at, n.mode_at, n.wake_method,
  case
    when n.seen_at >= clock_timestamp() - interval '30 s'
      and case when n.wake_state = 'waking' then n.seen_at >= n.wake_at
      when n.wake_state = 'asleep' then n.seen_at > n.wake_at
        + case when n.wake_tries = 0 then interval '60 s' else '0' end
        else true end then 'awake'
    when n.wake_state = 'awake' then 'unknown' else n.wake_state end as wake_state,
  n.wake_at, n.wake_note, n.sleep_after, n.version, n.drivers, n.isolation,
  (select jsonb_agg(jsonb_build_object('service', f.service, 'fault', f.fault, 'message', f.message, 'since', f.since,
    'retry_at', f.retry_at) order by f.service) from weir.node_faults f where f.node = n.id) as faults
from weir.nodes n;
comment on view weir.node is 'Nodes and what they run.';
