-- The bounds of every span of time that somebody gives, in one place: null if it is fine or not given, else what is
-- wrong, with the field's name.
-- A hundred years, so that a time plus a span is still a time, also after it was doubled or multiplied.
create or replace function weir._bad_span(field text, span interval, zero boolean default false) returns jsonb
language sql immutable parallel safe
as $$
  select case
    when zero and span < interval '0' then weir._fault(field, 'must not be negative')
    when not zero and span <= interval '0' then weir._fault(field, 'must be positive')
    when span > interval '100 years' then weir._fault(field, 'over the limit of 100 years') end
$$;
comment on function weir._bad_span is 'What is wrong with a span of time; null: nothing.';
