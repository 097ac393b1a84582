create function f() returns int as $$ begin; end;
