create table a (id int);
selct 2;
