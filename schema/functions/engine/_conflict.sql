-- Refuses what the state of a thing does not allow.
create or replace function weir._conflict(pattern text, args jsonb default '[]', hint text default null,
  command text default null, field text default null) returns void
language sql
as $$ select weir._raise('WR409', field, pattern, args, hint, command) $$;
comment on function weir._conflict is 'Raises WR409.';
