-- The time of a call: the database's own. Only the owner of the schema may set another one, as tests do (R14).
create or replace function weir._clock(at timestamptz) returns timestamptz
language sql volatile
as $$ select case when at is null then clock_timestamp() else weir._set_clock(at) end $$;
comment on function weir._clock is 'The database clock, or the time a test sets.';
