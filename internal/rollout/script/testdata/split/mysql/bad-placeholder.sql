create table ${schema}.a (id int);
