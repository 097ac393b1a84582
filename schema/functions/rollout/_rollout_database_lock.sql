-- Those who put or drop a database of one name follow one another, whether there is a row of it or not.
create or replace function weir._rollout_database_lock(name text) returns void
language sql
as $$ select pg_advisory_xact_lock(93, hashtext(name)) $$;
comment on function weir._rollout_database_lock is 'The lock of the name of a database.';
