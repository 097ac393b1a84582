begin;
create table t (x int);
commit;
