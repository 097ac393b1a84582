create function f() returns int language plpgsql as $$
begin
  perform 1;
  return 2;
end;
$$;
select f();