create table t (x int);

create tabel u (y int);
