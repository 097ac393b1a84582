begin;
create table a (x int);
insert into a values (1);
commit;