create function f(a int) returns int language sql
begin atomic
  select a;
  select a + 1;
end;
select 1;