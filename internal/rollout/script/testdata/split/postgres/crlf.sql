create table a (
  x int
);

select 1;
