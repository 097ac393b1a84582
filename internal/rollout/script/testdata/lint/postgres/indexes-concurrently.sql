-- weir: transaction=off
create index concurrently i on big (x);
create index concurrently on big (x);
create index concurrently if not exists j on big (x);
drop index concurrently i;
reindex table concurrently big;
refresh materialized view concurrently v;
alter table big detach partition p concurrently;
