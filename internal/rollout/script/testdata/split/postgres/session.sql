set search_path = app, public;
set local work_mem = '1MB';
create index concurrently i on t (x);
select 1;
reindex table concurrently t;