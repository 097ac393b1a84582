-- A span as an argument of a reason: seconds, to the millisecond.
create or replace function weir._seconds(span interval) returns numeric
language sql immutable parallel safe
as $$ select trim_scale(floor(extract(epoch from span) * 1000) / 1000) $$;
comment on function weir._seconds is 'A span in a reason.';
