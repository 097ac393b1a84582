-- The lane's lines of weir.why: who comes first in its order, and who has it alone.
create or replace function weir._why_lane(q weir.tasks, p weir.pending)
returns table (gate text, open boolean, reason jsonb, blocker uuid, since timestamptz)
language plpgsql stable
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  waits boolean := p.task is not null;
  b record;
begin
  if q.rank is not null then
    select x.* into b from (
      select o.task, o.rank, 'pending' as state, o.since from weir.pending o where o.lane = q.lane and o.rank < q.rank
      union all select o.task, o.rank, o.state, o.since from weir._lane_holder o
        where o.lane = q.lane and o.rank < q.rank and o.state in ('running', 'available')
      union all select o.task, o.rank, 'undecided', o.at from weir.lane_blocks o
        where o.lane = q.lane and o.rank < q.rank
      order by 2 limit 1) x where waits;
    return query select 'order', b.task is null, jsonb_build_object('lane', q.lane,
      'code', case when b.task is null then 'lane_first' else 'lane_behind' end, 'task', weir._why_name(b.task, q.job),
      'state', b.state), b.task, b.since;
  end if;
  select o.task, o.state, o.since into b from weir._lane_holder o
  where waits and o.lane = q.lane and o.task <> q.id and (q.exclusive or o.exclusive) order by o.since limit 1;
  if b.task is null and p.gate = 'lane' then
    select o.task, null as state, o.since into b from weir.pending o where o.lane = q.lane and o.gate = 'lane'
    order by o.rank, o.priority desc, o.order_seq, o.position limit 1;
    if b.task = q.id then
      b.task := null;
      b.since := null;
    end if;
  end if;
  return query select 'exclusion', b.task is null,
    jsonb_build_object('lane', q.lane, 'task', weir._why_name(b.task, q.job), 'state', b.state, 'holder', k.holder,
      'code', case when b.task is not null then case when b.state is null then 'lane_next' else 'lane_taken' end
        when k.holder is not null then 'lane_opening' else 'lane_free' end), b.task, b.since
  from (select case when b.task is null and p.gate = 'lane' then weir._key_holder(true, q.lane) end as holder) k;
end $$;
comment on function weir._why_lane is 'Why a task waits at its lane.';
