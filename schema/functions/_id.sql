-- A UUIDv7 whose time is at and whose next twelve bits are n, so that the ids of a batch are made in index order.
create or replace function weir._id(at timestamptz, n bigint default 1) returns uuid
language sql volatile parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select (substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-7' || lpad(to_hex(n & 4095), 3, '0') || substr(gen_random_uuid()::text, 19))::uuid
  from (select lpad(to_hex((date_part('epoch', at) * 1000)::bigint), 12, '0')) x (h)
$$;
comment on function weir._id is 'A UUIDv7 of that time; n orders the ids of one batch.';
