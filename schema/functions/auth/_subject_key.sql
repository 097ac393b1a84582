-- The key as it is kept: that of a role is another one than the same word of anybody else. A server is the owner of the
-- schema, and puts who asks into the key itself.
create or replace function weir._subject_key(key text) returns text
language sql stable
set search_path = weir, pg_temp
as $$ select coalesce('role:' || weir._caller() || '/', '') || key $$;
comment on function weir._subject_key is 'An idempotency key with the subject that it belongs to.';
