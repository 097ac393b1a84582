-- The bucket of a lane (0 to 31) or pool (32 to 63), for weir._lock_keys.
create or replace function weir._key_bucket(lane boolean, key text) returns int
language sql immutable parallel safe
as $$ select case when lane then 0 else 32 end + (hashtext(key) & 31) $$;
comment on function weir._key_bucket is 'The bucket of a key.';
