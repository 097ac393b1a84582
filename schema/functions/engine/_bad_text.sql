-- The bound of every text that somebody gives and that rows, events and pages repeat: null if it is fine or not given,
-- else what is wrong, with the field's name.
create or replace function weir._bad_text(field text, value text, most int default 200) returns jsonb
language sql immutable parallel safe
as $$
  select case when length(value) > most then weir._fault(field, 'longer than %s characters', most::text) end
$$;
comment on function weir._bad_text is 'What is wrong with a text; null: nothing.';
