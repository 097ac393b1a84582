drop table big, gone;
drop view v;
drop schema s cascade;
drop type mood;
drop function f(int);
alter table big drop column x;
alter table big drop constraint c;
truncate big, small;
drop database d;
