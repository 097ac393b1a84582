-- Pools with what uses them now.
create or replace view weir.pool as
select p.name, p.size, p.rate, p.per, p.note,
  (select count(*) from weir.pending x where x.gate = 'pool' and x.pool = p.name) as waiting,
  (select count(*) from weir.available x where x.pool = p.name) as available,
  (select count(*) from weir.running x where x.pool = p.name) as running, p.resized_at
from weir.pools p;
comment on view weir.pool is 'Pools and their use.';
