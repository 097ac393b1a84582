alter table t add column a int;
alter table t validate constraint c;
alter table t add constraint c foreign key (a) references other (id) not valid;
alter table t set (fillfactor = 70), alter column a set statistics 100;
alter table t disable trigger all;
alter table t attach partition p for values in (1);
alter table t alter column a set statistics 5, add column b int;