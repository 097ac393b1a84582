-- A UUIDv7 whose time is at and whose next twelve bits are n, so that the ids of a batch are made in index order.
create or replace function weir._id(at timestamptz, n bigint default 1) returns uuid
language plpgsql volatile parallel safe
as $$
begin
  return (weir._id_prefix(at) || lpad(to_hex(n & 4095), 3, '0') || substr(gen_random_uuid()::text, 19))::uuid;
end $$;
comment on function weir._id is 'A UUIDv7 of that time; n orders the ids of one batch.';
