create table t (x int);
copy t (x) from stdin;
1
2
\.
select 1;