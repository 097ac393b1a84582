-- What is wrong with a number of rows that somebody asks for, with the argument's name; null if it is fine or not
-- given.
create or replace function weir._bad_count(field text, n bigint) returns jsonb
language sql immutable parallel safe
as $$
  select case when n < 0 then weir._fault(field, 'must not be negative') end
$$;
comment on function weir._bad_count is 'What is wrong with a number of rows; null: nothing.';
