-- What is wrong with a value: the field, the pattern of a sentence and what stands in its places.
create or replace function weir._fault(field text, pattern text, variadic args text[] default '{}') returns jsonb
language sql immutable parallel safe
as $$ select jsonb_build_object('field', field, 'pattern', pattern, 'args', args) $$;
comment on function weir._fault is 'What is wrong with a value, for weir._check.';
