insert into t values ('a);
select 1;