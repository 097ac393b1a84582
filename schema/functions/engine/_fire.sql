-- Submits due runs of schedules and moves the schedules on: an array of objects with name, was, due and next_at. was
-- must be the time the schedule had, so that two callers never both fire; null as the next time says that there is
-- none. All tasks go in one submission: a thousand schedules may be due at one instant. Each run has an idempotency key
-- of its own, made of the schedule and the time it was due. Returns what was submitted, by schedule.
-- A task of service fleet stands for a fleet job, whose spec are its params. The run of a workflow is a queued job:
-- whoever builds jobs decides when it is its turn. What the policy on overlaps leaves out, the event names.
create or replace function weir._fire(runs jsonb, t timestamptz) returns jsonb
language plpgsql
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  moved text[];
  names text[];
  times timestamptz[];
  fired jsonb := '{}';
  s record;
begin
  perform weir._check(variadic array(select weir._bad_time('due', d)
      from jsonb_to_recordset(runs) r (due timestamptz[]), unnest(r.due) d
    union all select weir._bad_time('next_at', nullif(r.next_at, 'infinity'))
    from jsonb_to_recordset(runs) r (next_at timestamptz)));
  -- In the order of their names, so that two callers with the same ones never wait for each other in a ring.
  perform from weir.schedules x where x.name in (select e ->> 'name' from jsonb_array_elements(runs) e) order by x.name
  for update;
  with u as (
    update weir.schedules x
    set next_at = coalesce(r.next_at, 'infinity'), last_at = coalesce(r.due[cardinality(r.due)], x.last_at)
    from jsonb_to_recordset(runs) r (name text, was timestamptz, due timestamptz[], next_at timestamptz)
    where x.name = r.name and x.next_at = r.was and not x.paused returning x.name
  )
  select coalesce(array_agg(u.name), '{}') into moved from u;

  select array_agg(x.name order by x.name, d.n), array_agg(d.at order by x.name, d.n) into names, times
  from jsonb_to_recordset(runs) r (name text, due timestamptz[])
  join weir.schedules x on x.name = r.name and x.name = any (moved) and x.workflow is null
    and x.task ->> 'service' <> 'fleet',
    unnest(r.due) with ordinality d (at, n);
  if names is not null then
    with m as materialized (
      select names[m.n] as name, m.n, m.task from weir.submit_many((
        select jsonb_agg(x.task
          || case when x.jitter > interval '0' then jsonb_build_object('run_at', weir._jittered(x.name, d.at, x.jitter))
            else '{}' end
          || jsonb_build_object('idempotency_key', weir._run_key(x.name, d.at)) order by d.n)
        from unnest(names, times) with ordinality d (name, at, n) join weir.schedules x on x.name = d.name), true, t) m
    ), u as (
      update weir.schedules x set last_task = l.task
      from (select distinct on (m.name) m.name, m.task from m order by m.name, m.n desc) l where x.name = l.name
    )
    select jsonb_object_agg(g.name, g.ids) into fired
    from (select m.name, jsonb_agg(m.task order by m.n) as ids from m group by m.name) g;
  end if;
  for s in select x as schedule, r.due from jsonb_to_recordset(runs) r (name text, due timestamptz[])
    join weir.schedules x on x.name = r.name and x.name = any (moved)
    where (x.workflow is not null or x.task ->> 'service' = 'fleet') and cardinality(r.due) > 0 order by x.name
  loop
    fired := fired
      || jsonb_build_object((s.schedule).name,
        to_jsonb(case when (s.schedule).workflow is null then weir._fire_fleet(s.schedule, s.due, t)
            else weir._fire_workflow(s.schedule, s.due, t) end));
  end loop;
  insert into weir.events (at, type, kind, subject, message, data)
  select t, 'fired', 'schedule', x.name,
    case
      when n.made < cardinality(r.due) then
        format('%s of %s left out: %s', cardinality(r.due) - n.made, cardinality(r.due), x.overlap) end,
    jsonb_build_object('due', to_jsonb(r.due),
      case when x.workflow is null and x.task ->> 'service' <> 'fleet' then 'tasks' else 'jobs' end, fired -> x.name,
      'next_at', nullif(x.next_at, 'infinity'))
  from jsonb_to_recordset(runs) r (name text, due timestamptz[])
  join weir.schedules x on x.name = r.name and x.name = any (moved),
    lateral (select coalesce(jsonb_array_length(fired -> x.name), 0) as made) n;
  return fired;
end $$;
comment on function weir._fire is 'Submits due runs of schedules exactly once.';
