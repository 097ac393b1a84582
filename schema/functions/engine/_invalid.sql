-- Refuses bad input. Every refusal names the field and the fix.
create or replace function weir._invalid(field text, pattern text, args jsonb default '[]', hint text default null,
  command text default null)
returns void
language sql
as $$ select weir._raise('WR422', field, pattern, args, hint, command) $$;
comment on function weir._invalid is 'Raises WR422.';
