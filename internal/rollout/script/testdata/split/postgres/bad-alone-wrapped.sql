begin;
create index concurrently i on t (x);
commit;