-- The bound of every text that somebody gives and that rows, events and pages repeat: null if it is fine or not given, else what is wrong, with the field's name.
create or replace function weir._bad_text(field text, value text, most int default 200) returns text
language sql immutable parallel safe
as $$
  select case when length(value) > most then format('%s: longer than %s characters', field, most) end
$$;
comment on function weir._bad_text is 'What is wrong with a text; null: nothing.';
