create table "a (x int);
