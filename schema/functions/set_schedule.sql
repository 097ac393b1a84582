-- Creates or changes a schedule: when (a cron line, or @every with an interval), in which time zone, what to submit, and what to do about runs
-- that were missed: skip them, run one, or run all. The coordinator knows cron; it gives the next time. With seen, the changed_at that the caller has
-- read, it is refused if somebody else changed the schedule meanwhile.
create or replace function weir.set_schedule(name text, spec text, task jsonb, next_at timestamptz, zone text default 'UTC', missed text default 'one', paused boolean default false,
  by text default null, seen timestamptz default null, at timestamptz default null) returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(set_schedule.at);
  was weir.schedules;
begin
  if coalesce(set_schedule.name, '') = '' or length(set_schedule.name) > 200 then
    perform weir._invalid('name: 1 to 200 characters');
  end if;
  if set_schedule.missed not in ('skip', 'one', 'all') then
    perform weir._invalid('missed: skip, one or all');
  end if;
  perform weir._parse(jsonb_build_array(set_schedule.task));
  if set_schedule.seen is not null then
    perform weir._unchanged('schedule', set_schedule.name, set_schedule.seen,
      (select s.changed_at from weir.schedules s where s.name = set_schedule.name for update));
  end if;
  select s.* into was from weir.schedules s where s.name = set_schedule.name;
  insert into weir.schedules as s (name, spec, zone, missed, task, paused, next_at, changed_at)
  values (set_schedule.name, set_schedule.spec, set_schedule.zone, set_schedule.missed, set_schedule.task, set_schedule.paused, set_schedule.next_at, t)
  on conflict (name) do update set spec = excluded.spec, zone = excluded.zone, missed = excluded.missed, task = excluded.task, paused = excluded.paused,
    next_at = case when (s.spec, s.zone) = (excluded.spec, excluded.zone) and not s.paused then s.next_at else excluded.next_at end, changed_at = t
  where (s.spec, s.zone, s.missed, s.task, s.paused) is distinct from (excluded.spec, excluded.zone, excluded.missed, excluded.task, excluded.paused);
  if found then
    insert into weir.events (at, type, kind, subject, source, message) values (t, case
      when was.name is null or (was.spec, was.zone, was.missed, was.task) is distinct from (set_schedule.spec, set_schedule.zone, set_schedule.missed, set_schedule.task) then 'set'
      when set_schedule.paused then 'paused' else 'resumed' end, 'schedule', set_schedule.name, set_schedule.by, set_schedule.spec);
  end if;
end $$;
comment on function weir.set_schedule is 'Creates or changes a schedule. The same call again changes nothing.';
