-- The key as somebody wrote it, of one as it is kept: as keys were kept before they belonged to a subject.
create or replace function weir._plain_key(key text) returns text
language sql immutable parallel safe
set search_path = weir, pg_temp
as $$ select case when key ~ '^(user|role):[^/]+/' then substr(key, strpos(key, '/') + 1) end $$;
comment on function weir._plain_key is 'An idempotency key without its subject.';
