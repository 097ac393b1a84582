-- Submits the runs of a schedule that are due and sets its next time, once: was must be the time it had, so that two callers never both fire.
-- Each run has an idempotency key of its own, made of the schedule and the time it was due.
create or replace function weir.fire_schedule(name text, was timestamptz, due timestamptz[], next_at timestamptz, at timestamptz default null) returns uuid[]
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(fire_schedule.at);
  s weir.schedules;
  ids uuid[];
begin
  update weir.schedules x set next_at = fire_schedule.next_at, last_at = coalesce(due[cardinality(due)], x.last_at)
  where x.name = fire_schedule.name and x.next_at = was and not x.paused returning x.* into s;
  if not found then
    return '{}';
  end if;
  if cardinality(due) > 0 then
    select array_agg(m.task order by m.n) into ids from weir.submit_many((
      select jsonb_agg(s.task || jsonb_build_object('idempotency_key', format('schedule:%s@%s', s.name, to_char(d at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))))
      from unnest(due) d), true, t) m;
    update weir.schedules x set last_task = ids[cardinality(ids)] where x.name = s.name;
  end if;
  insert into weir.events (at, type, kind, subject, data) values (t, 'fired', 'schedule', s.name, jsonb_build_object('due', to_jsonb(due), 'tasks', to_jsonb(ids), 'next_at', s.next_at));
  return coalesce(ids, '{}');
end $$;
comment on function weir.fire_schedule is 'Submits due runs of a schedule exactly once.';
