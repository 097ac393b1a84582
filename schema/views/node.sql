-- Nodes with what they run. A node that was not seen for 30 s is dead.
create or replace view weir.node as
select n.name, case when n.seen_at < clock_timestamp() - interval '30 s' then 'dead' when coalesce(n.mode_until, 'infinity') > clock_timestamp() then n.mode else 'active' end as state,
  n.labels, n.capacity, (select count(*) from weir.running r where r.node = n.id) as running,
  (select count(*) from weir.workers w where w.node = n.id and w.stopped_at is null and w.seen_at > clock_timestamp() - interval '30 s') as workers,
  n.note, n.mode_until, n.seen_at, n.registered_at, n.mode_at
from weir.nodes n;
comment on view weir.node is 'Nodes and what they run.';
