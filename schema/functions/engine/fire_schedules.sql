-- Many schedules in one call: an array of objects with the arguments of weir.fire_schedule. All or none, so that a
-- caller that is refused can go through them one by one. Returns how many runs there were.
create or replace function weir.fire_schedules(runs jsonb, at timestamptz default null) returns int
language sql security definer
set search_path = weir, pg_temp
set jit = off
as $$
  select coalesce(sum(jsonb_array_length(f.value)), 0)::int
  from jsonb_each(weir._fire(fire_schedules.runs, weir._clock(fire_schedules.at))) f
$$;
comment on function weir.fire_schedules is 'Submits due runs of many schedules exactly once.';
