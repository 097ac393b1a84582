create table t (x int);
create index concurrently i on t (x);
insert into t values (1);
insert into t values (2);
vacuum t;
select 1;