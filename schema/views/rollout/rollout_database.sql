-- A database with what is known of it, and how much waits or runs there.
create or replace view weir.rollout_database as
select d.name, d.engine, d.environment, d.labels, d.secret, d.note, d.identity, d.server, d.version, d.checked_at,
  d.fault, d.by, d.created_at, d.changed_at,
  (select count(*)::int from (select 1 from weir.pending p where p.lane = 'database/' || d.name and p.rank is not null
    union all select 1 from weir.pending p
    where p.lane = 'database/' || d.name and p.rank is null and p.gate in ('lane', 'pool')
    union all select 1 from weir.available a where a.lane = 'database/' || d.name
    union all select 1 from weir.running r where r.lane = 'database/' || d.name) x) as live,
  coalesce((select s.drifted from weir.snapshots s where s.database = d.name), false) as drifted
from weir.databases d;
comment on view weir.rollout_database is 'Databases that rollouts change.';
