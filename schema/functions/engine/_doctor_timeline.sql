-- The planner knows nothing of how many moves there are, so it must not join them by loops.
-- The state of a task is what its events say: each move is allowed from the state before it, and the last one leads to
-- where the task is.
-- Readers see the events of a task in their order. What is older than docs/decisions/0020 may come before what it
-- follows, if its transaction was there first; none lasts for an hour.
create or replace function weir._doctor_timeline(sample uuid[])
returns table (name text, ok boolean, level text, detail text)
language plpgsql stable
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = off
as $$
#variable_conflict use_column
declare
  -- A call that had to wait carries the time it came, so a little earlier counts too.
  since timestamptz := weir._id_time(sample[cardinality(sample)]) - interval '5 min';
  -- What happened before the oldest partition of the timeline is gone: a task older than that has no beginning.
  oldest timestamptz := (select min(p.lo) from weir._partitions() p where p.parent = 'events');
  broken text[];
  misplaced text[];
begin
  with moves as (
    select u.task, e.xid, e.at, e.seq, e.type, e.attempt
    from weir.events e, unnest(coalesce(e.tasks, array[e.task])) u (task)
    where e.kind is null and e.type in (select x.event from weir.transition x)
      and (sample is null or e.at >= since and u.task in (select unnest(sample)))
  ), steps as (
    select m.task, m.seq, m.type, m.attempt, lag(x.becomes) over w as was, x.becomes, lead(m.seq) over w as next,
      lag(m.attempt) over w as attempt_before, m.xid, lag(m.xid) over w as xid_before, m.at,
      lag(m.at) over w as at_before, lag(m.seq) over w as seq_before, lag(m.type) over w as type_before
    from moves m join (select distinct y.event, y.becomes from weir.transition y) x on x.event = m.type
    window w as (partition by m.task order by m.seq)
  ), states as (
    -- As in weir.task, but by lookups alone: a join would read all of the history for the sake of the sample.
    select q.id, case when (select true from weir.pending p where p.task = q.id) then 'pending'
      when (select true from weir.available a
        where a.class in (q.class, -q.class) and a.order_seq = q.order_seq and a.position = q.position) then
        'available'
      when (select true from weir.running r where r.task = q.id) then 'running'
        else (select f.outcome from weir.finished f where f.task = q.id) end as state
    from (
      select q.*
      from unnest(sample) u (task),
        lateral (select q.id, q.class, q.order_seq, q.position from weir.tasks q where q.id = u.task offset 0) q
      union all select q.id, q.class, q.order_seq, q.position from weir.tasks q where sample is null
    ) q
  )
  select array_agg(f.says) filter (where f.state), array_agg(f.says) filter (where not f.state) into broken, misplaced
  from (
    (select true as state, format('%s: %s after %s', s.task, s.type, coalesce(s.was::text, 'nothing')) as says
      from steps s
    where not exists (select from weir.transition x where x.was is not distinct from s.was and x.event = s.type)
      and (s.was is not null or oldest is null or weir._id_time(s.task) >= oldest)
    union all
    select true, format('%s: attempt %s claimed after attempt %s', s.task, s.attempt, s.attempt_before) from steps s
    where s.type = 'claimed' and s.attempt <> coalesce(s.attempt_before, 0) + 1 and s.was is not null
      and coalesce(s.attempt_before, 0) <= weir._attempt_limit()
    union all
    select true,
      format('%s is %s, its events say %s', q.id, coalesce(q.state::text, 'nowhere'),
        coalesce(s.becomes::text, 'nothing'))
    from states q left join steps s on s.task = q.id and s.next is null
    where q.state is distinct from s.becomes
      and (s.task is not null or oldest is null or weir._id_time(q.id) >= oldest)
    limit 100)
    union all
    (select false,
      format('%s: readers see %s (xid %s) before %s (xid %s), which came first; who resumed in between may have missed '
        'it and should load afresh',
        s.task, s.type, s.xid, s.type_before, s.xid_before)
    from steps s
    where s.xid < s.xid_before
      and (s.xid = 0 or s.seq_before > (select c.ordered_seq from weir.cluster c)
        or s.at > s.at_before + interval '1 hour') limit 100)
  ) f;
  return query select * from weir._doctor('the state of a task is what its events say', broken);
  return query select * from weir._doctor('readers see the events of a task in order', misplaced);
end $$;
comment on function weir._doctor_timeline is 'Invariant: state = fold(events).';
