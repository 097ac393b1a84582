-- What there is to do now or within so long, and nobody who is awake can do: for every service and its labels, the
-- first to need it and when. Looks at jobs that are queued, at schedules, and at tasks that may start or whose time
-- comes; of each at no more than it can read in a moment, the most urgent first. without: as if this node slept.
create or replace function weir._unserved_work(within interval, t timestamptz, without int default null)
returns table (service text, labels jsonb, due timestamptz, what text)
language sql stable
set search_path = weir, pg_temp
set jit = off
as $$
  with flows as (
    (select l.definition, l.due, 'job ' || l.job as what from weir.job_live l
      where l.due <= t + within and l.cancel_at is null order by l.due limit 1000)
    union all
    (select d.id, s.next_at, 'schedule ' || s.name from weir.schedules s,
      lateral (select d.id from weir._definition d where d.name = split_part(s.workflow, '@', 1) and d.active
        order by d.version desc limit 1) d
    where not s.paused and s.next_at <= t + within and s.workflow is not null order by s.next_at limit 1000)
  ), first as materialized (
    select distinct on (f.definition) f.* from flows f where f.definition is not null order by f.definition, f.due
  ), work as (
    select w.service, w.labels, f.due, f.what from first f join weir._definition_work w on w.definition = f.definition
    union all
    select s.task ->> 'service', coalesce(s.task -> 'labels', '{}'), s.next_at, 'schedule ' || s.name
    from (select * from weir.schedules s where not s.paused and s.next_at <= t + within and s.task is not null
      order by s.next_at limit 1000) s
    union all
    select c.service, c.labels, t, 'a task' from weir.classes c
    where exists (select from weir.available a where a.class = c.id and a.order_seq >= c.floor)
      or exists (select from weir.available a where a.class = -c.id)
    union all
    select c.service, c.labels, p.run_at, 'task ' || p.task
    from (select * from weir.pending p where p.gate = 'time' and p.run_at <= t + within order by p.run_at limit 1000) p
    join weir.classes c on c.id = p.class
  ), wanted as (
    select distinct on (w.service, w.labels) w.* from work w
    where w.service is not null and jsonb_typeof(w.labels) = 'object' order by w.service, w.labels, w.due
  )
  select w.* from wanted w
  where not exists (
    select from weir.workers x left join weir.nodes n on n.id = x.node
    where (without is null or x.node is distinct from without) and w.service = any (x.services) and x.stopped_at is null
      and x.seen_at > t - interval '60 s'
      and w.labels <@ (x.labels || coalesce(n.labels || jsonb_build_object('node', n.name), '{}'))
      and (n.id is null
        or weir._awake(n, t) and (n.mode = 'active' or n.mode_until <= t)
          and coalesce((n.capacity ->> w.service)::int, 1) > 0
          and not exists (select from weir.node_faults f where f.node = n.id and f.service = w.service)))
$$;
comment on function weir._unserved_work is 'Work that is due soon and that nobody who is awake can do.';
