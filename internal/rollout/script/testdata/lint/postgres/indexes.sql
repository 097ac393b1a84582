create index i on big (x);
create index on public.big (x);
create unique index i on small (x);
drop index i;
reindex table big;
refresh materialized view v;
