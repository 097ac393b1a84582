-- Says of an attempt that it ran into its timeout, in the words of the device queue; null: it did not. Whoever only writes that he timed out did not outlast it.
create or replace function weir._fleet_late(message text, lasted interval, allowed interval) returns text
language sql immutable parallel safe
as $$
  select case when message like 'timed out after %' and lasted > allowed then format('Task device timeout: exceeded %s',
    case when extract(epoch from allowed) % 60 = 0 then (extract(epoch from allowed) / 60)::int || ' minutes' else (extract(epoch from allowed))::int || ' seconds' end) end
$$;
comment on function weir._fleet_late is 'The words for a timeout, or null.';
