-- Workers with what they run.
create or replace view weir.worker as
select w.name,
  case when w.stopped_at is not null then 'stopped' when w.seen_at < clock_timestamp() - interval '30 s' then 'dead'
    else 'live' end as state, n.name as node, w.services, w.labels,
  (select count(*) from weir.running r where r.worker = w.id) as running, w.started_at, w.seen_at, w.stopped_at
from weir.workers w left join weir.nodes n on n.id = w.node;
comment on view weir.worker is 'Workers and what they run.';
