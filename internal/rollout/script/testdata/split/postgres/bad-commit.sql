create table a (x int);
commit;
create table b (x int);