-- Says of an attempt that it ran into its timeout, in the words of the device queue; null: it did not.
create or replace function weir._fleet_timeout(reason text, allowed interval) returns text
language sql immutable parallel safe
as $$
  select case when reason = 'timeout' then format('Task device timeout: exceeded %s',
    case when extract(epoch from allowed) % 60 = 0 then (extract(epoch from allowed) / 60)::int || ' minutes'
      else (extract(epoch from allowed))::int || ' seconds' end) end
$$;
comment on function weir._fleet_timeout is 'The words for a timeout, or null.';
