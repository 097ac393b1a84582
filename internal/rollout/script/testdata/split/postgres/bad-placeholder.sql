select 1;
create table ${schema}.a (id int);
