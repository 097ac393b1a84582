-- The bounds of every time that somebody gives, in one place: null if it is fine or not given, else what is wrong, with
-- the field's name.
-- Infinity is refused because no difference to it exists, and years outside 1 to 9998 because JSON and people cannot
-- read them.
create or replace function weir._bad_time(field text, moment timestamptz) returns jsonb
language sql immutable parallel safe
as $$
  select case when not isfinite(moment) or moment < '0001-01-01 00:00:00+00' or moment >= '9999-01-01 00:00:00+00'
    then weir._fault(field, 'not a date that will come: the years are 1 to 9998') end
$$;
comment on function weir._bad_time is 'What is wrong with a time; null: nothing.';
