-- The words of the history of attempts that are Weir's to write. A runner adds others, and must not say of itself that
-- it succeeded. Stable, because the words of an immutable function are computed while a query is planned: a role that
-- may not read the view would be told of this function and not of the view.
create or replace function weir._fleet_reserved_words() returns text[]
language sql stable parallel safe
as $$
  select array['CREATED', 'SENT', 'SUCCEEDED', 'FAILED', 'TIMEOUT', 'RETRY_SCHEDULED', 'FAILED_FINAL', 'CANCELLED',
    'REFUSED']
$$;
comment on function weir._fleet_reserved_words is 'Words that runners cannot write.';
