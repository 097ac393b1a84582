-- The lowest UUIDv7 of a time: the border between partitions.
create or replace function weir._id_at(at timestamptz) returns uuid
language sql immutable parallel safe
as $$ select rpad(lpad(to_hex((date_part('epoch', at) * 1000)::bigint), 12, '0'), 32, '0')::uuid $$;
comment on function weir._id_at is 'The lowest UUIDv7 of a time.';
