-- The time in a UUIDv7: when the task was submitted.
create or replace function weir._id_time(id uuid) returns timestamptz
language sql immutable parallel safe
as $$ select to_timestamp(('x' || replace(left(id::text, 13), '-', ''))::bit(48)::bigint / 1000.0) $$;
comment on function weir._id_time is 'The time in a UUIDv7.';
