select 1;
create table t (x int);
