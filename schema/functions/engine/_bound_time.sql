-- The time that a partition border stands for: a timestamp, or the first 48 bits of a UUIDv7.
create or replace function weir._bound_time(bound text) returns timestamptz
language sql stable
as $$
  select case when bound ~ '^[0-9a-f]{8}-' then weir._id_time(bound::uuid) else bound::timestamptz end
$$;
comment on function weir._bound_time is 'A partition border as a time.';
