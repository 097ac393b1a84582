create table t (x int);
create index concurrently i on big (x);
alter type mood add value 'ok';
