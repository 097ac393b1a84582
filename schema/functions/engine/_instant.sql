-- A time as an argument of a reason: in UTC, as JSON has times. Null for infinity, which no clock shows.
create or replace function weir._instant(at timestamptz) returns text
language sql stable parallel safe
as $$ select case when isfinite(at) then to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') end $$;
comment on function weir._instant is 'A time in a reason.';
