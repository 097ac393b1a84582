-- Refuses an id that names nothing.
create or replace function weir._not_found(what text, id text) returns void
language plpgsql
as $$
begin
  raise exception using errcode = 'WR404', message = format('there is no %s %s', what, id), hint = 'it may be misspelt, or older than the retention';
end $$;
comment on function weir._not_found is 'Raises WR404.';
