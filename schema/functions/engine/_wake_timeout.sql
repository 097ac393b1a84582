-- How long after a try a node may take to be seen.
create or replace function weir._wake_timeout(n weir.nodes) returns interval
language sql immutable
as $$ select make_interval(secs => coalesce((n.wake ->> 'timeout')::float8, 120)) $$;
comment on function weir._wake_timeout is 'How long a node may take to wake.';
