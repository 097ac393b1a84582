-- Refuses an id or a name that stands for nothing. The first argument of the refusal is the noun, by which the command
-- to run next is chosen.
create or replace function weir._not_found(noun text, name text,
  hint text default 'it may be misspelt, or older than the retention', command text default null) returns void
language sql
as $$ select weir._raise('WR404', null, 'there is no %s %s', jsonb_build_array(noun, name), hint, command) $$;
comment on function weir._not_found is 'Raises WR404.';
