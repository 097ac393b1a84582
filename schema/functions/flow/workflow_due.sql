-- Queued jobs of workflows that are due, in the order in which they are built: those that may be built now, note null,
-- and those that may not and whose note does not say so yet. A workflow's max_running counts jobs of all its versions;
-- a job that is part of one of its own kind does not wait for it. Jobs of a schedule that does not let them overlap
-- come one by one. A job that is an item of a map holds a place of the map's pool while it runs, as a task would.
create or replace function weir.workflow_due(most int default 200, at timestamptz default null)
returns table (job uuid, note text)
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workflow_due.at);
begin
  return query
  with due as materialized (
    select l.job, l.note, j.order_seq, j.priority, coalesce(w.name, l.definition::text) as name, s.name as schedule,
      s.overlap,
      case
        when jsonb_typeof(w.definition -> 'max_running') = 'number' then
          nullif((w.definition ->> 'max_running')::numeric, 0) end as cap,
      j.parent is not null
        and exists (select from weir.workflow_ancestors(l.job) a where a.name = w.name) as inner_one, i.name as pool,
          i.size
    from weir.job_live l
    join lateral (select j.order_seq, j.priority, j.parent,
      case when j.parent is not null then (select q.pool from weir.tasks q where q.id = j.parent) end as pool
      from weir.jobs j where j.id = l.job offset 0) j on true
    left join weir.workflows w on w.id = l.definition
    left join weir.schedules s on s.name = l.schedule and s.overlap <> 'allow'
    left join weir.pools i on i.name = j.pool
    where l.due <= t and l.definition is not null and l.cancel_at is null
  ), held as (
    select n.pool, (select count(*) from weir.job_live l where l.parent is not null and l.due is null
      and (select q.pool from weir.tasks q where q.id = l.parent) = n.pool) as taken
    from (select distinct d.pool from due d where d.pool is not null) n
  ), turn as (
    select d.*, d.schedule is not null and (row_number() over (partition by d.schedule order by d.order_seq) > 1
        or exists (select from weir.job_live l where l.schedule = d.schedule and l.due is null)) as behind,
      h.taken + row_number() over (partition by d.pool order by d.order_seq) > d.size as full_map
    from due d left join held h on h.pool = d.pool
  ), live as (
    select n.name,
      (select count(*) from weir.workflows w join weir.job_live l on l.definition = w.id and l.due is null
        where w.name = n.name) as running
    from (select distinct d.name from due d where d.cap is not null) n
  ), place as (
    select d.*,
      row_number() over (partition by d.name, d.behind or d.full_map is true or d.cap is null or d.inner_one
        order by d.priority desc, d.order_seq) as nth, r.running
    from turn d left join live r on r.name = d.name
  ), said as (
    select p.*, case
      when p.behind then format('waits for the run of schedule %s before it (%s)', p.schedule, p.overlap)
      when p.full_map then format('waits for its turn: at most %s items of its map run at once', p.size)
      when p.cap is not null and not p.inner_one
        and p.running + p.nth > p.cap then format('waits for its turn: at most %s of %s run at once', p.cap, p.name)
    end as says
    from place p
  )
  (select s.job, null::text from said s where s.says is null
    order by s.priority desc, s.order_seq limit workflow_due.most)
  union all
  (select s.job, s.says from said s where s.says is distinct from s.note and s.says is not null limit 500);
end $$;
comment on function weir.workflow_due is 'Due jobs to be built, and why others are not.';
