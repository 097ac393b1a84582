-- A time as an earlier Weir kept it: without a zone it is UTC.
create or replace function weir._earlier_time(earlier jsonb, field text) returns timestamptz
language sql stable
as $$
  select case
    when earlier ->> field ~ '(Z|[+-]\d\d(:?\d\d)?)$'
      and earlier ->> field ~ '[T ]' then (earlier ->> field)::timestamptz
    else (earlier ->> field)::timestamp at time zone 'UTC' end
$$;
comment on function weir._earlier_time is 'A time of an earlier schema.';
