-- The beginning of every UUIDv7 of a time: its milliseconds and the version.
create or replace function weir._id_prefix(at timestamptz) returns text
language plpgsql stable parallel safe
as $$
declare
  ms text := lpad(to_hex((date_part('epoch', at) * 1000)::bigint), 12, '0');
begin
  return left(ms, 8) || '-' || right(ms, 4) || '-7';
end $$;
comment on function weir._id_prefix is 'The first fifteen characters of a UUIDv7.';
