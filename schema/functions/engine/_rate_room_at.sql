-- When a pool with a rate has room again at the earliest: when its oldest start no longer counts. Null: none counts, so
-- either nothing holds it back or all that it may start is open, and only a start tells more.
create or replace function weir._rate_room_at(of_pool text, per interval, t timestamptz) returns timestamptz
language sql stable
set search_path = weir, pg_temp
as $$
  select s.at + per from weir.starts s where s.pool = of_pool and s.at > t - per order by s.at limit 1
$$;
comment on function weir._rate_room_at is 'When a rate has room again at the earliest.';
