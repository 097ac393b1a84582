-- Text that somebody else wrote, cut to what a row should hold. The rest belongs into the log.
create or replace function weir._text(message text) returns text
language sql immutable parallel safe
as $$
  select case
    when length(message) > 8000 then left(message, 7950) || format(' … (%s characters cut)', length(message) - 7950)
    else message end
$$;
comment on function weir._text is 'At most 8,000 characters.';
