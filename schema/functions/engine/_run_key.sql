-- The idempotency key of one run of a schedule.
create or replace function weir._run_key(name text, due timestamptz) returns text
language sql immutable parallel safe
set search_path = weir, pg_temp
as $$ select format('schedule:%s@%s', name, to_char(due at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) $$;
comment on function weir._run_key is 'The idempotency key of a run of a schedule.';
