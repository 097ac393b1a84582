-- When a run that stands for a time starts: put off by a part of the jitter that depends on the schedule and the time
-- alone, so that every server and every repetition comes to the same.
create or replace function weir._jittered(name text, due timestamptz, jitter interval) returns timestamptz
language sql immutable parallel safe
as $$
  select due
    + coalesce(jitter, '0') * ((hashtextextended(name || '@' || extract(epoch from due), 0) & 16777215) / 16777216.0)
$$;
comment on function weir._jittered is 'The time of a run, put off by its part of the jitter.';
