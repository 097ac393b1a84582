-- The life of one task. What happened to it alone is found by its index; what it shared with a batch by the times that
-- its rows carry.
-- lines: of its own events look at the first and the last 10 × lines, and of what is not a move return the newest of
-- these. Null: everything.
create or replace function weir.task_events(of_task uuid, lines int default null)
returns table (seq bigint, at timestamptz, type text, attempt int, worker text, source text, level text, message text,
  data jsonb)
language plpgsql stable security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  own weir.events[];
  times timestamptz[];
  most bigint := 10::bigint * lines;
begin
  perform weir._check(weir._bad_count('lines', lines));
  own := array(
    with last as materialized (
      select * from weir.events e where e.task = of_task order by e.seq desc limit most
    )
    select e from (
      select * from last
      union all (select * from weir.events e
        where e.task = of_task and lines is not null and e.seq < (select min(l.seq) from last l)
        order by e.seq limit most)
    ) e);
  select array_agg(distinct x.at) into times from (
    select weir._id_time(of_task) as at
    union all select unnest(array[f.at, f.started_at, f.opened_at]) from weir.finished f where f.task = of_task
    union all select unnest(array[r.claimed_at, r.opened_at]) from weir.running r where r.task = of_task
    union all select a.opened_at from weir.tasks q
    join weir.available a on a.class in (q.class, -q.class) and a.order_seq = q.order_seq and a.position = q.position
    where q.id = of_task
    union all select unnest(array[e.data ->> 'claimed_at', e.data ->> 'opened_at', e.data ->> 'ended_at'])::timestamptz
    from unnest(own) e
      where e.type in ('retrying', 'snoozed', 'expired', 'returned', 'retried', 'held')
  ) x where x.at is not null;
  return query
  select e.seq, e.at, e.type, e.attempt::int, w.name, e.source, coalesce(e.level, 'info'), e.message, e.data
  from (
    select * from unnest(own) e where lines is null or e.type in (select x.event from weir.transition x)
    union all
    (select * from unnest(own) e where lines is not null and e.type not in (select x.event from weir.transition x)
      order by e.seq desc limit lines)
    union all
    select b.*
    from unnest(times) k (at),
      lateral (select * from weir.events e where e.at = k.at and e.tasks @> array[of_task] offset 0) b
  ) e left join weir.workers w on w.id = e.worker
  order by e.seq;
end $$;
comment on function weir.task_events is 'The events of a task, in order; with lines, of what it said only so many.';
