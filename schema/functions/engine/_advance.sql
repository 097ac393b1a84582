-- Lets pending tasks step from a gate that opened (needs, plan, time or hold) to the next one that is closed. Returns
-- the lanes and pools they now stand at, and how many became available; the caller opens those with weir._open. The
-- caller holds the rows. The planner is told of what now waits for it.
create or replace function weir._advance(ids uuid[], t timestamptz, out lanes text[], out pools text[], out opened int)
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = on
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  free tid[];
  planning boolean;
begin
  with a as materialized (
    select p.ctid as row, p.task, p.lane, p.pool, weir._next_gate(p.plan, p.run_at, p.hold, p.lane, p.pool, t) as gate
    from weir.pending p where p.task = any (ids)
  ), u as (
    update weir.pending p set gate = a.gate, since = t, unmet = 0 from a where p.task = a.task and a.gate is not null
  )
  select array_agg(a.row) filter (where a.gate is null), array_agg(distinct a.lane) filter (where a.gate = 'lane'),
    array_agg(distinct a.pool) filter (where a.gate = 'pool'), bool_or(a.gate = 'plan')
  into free, lanes, pools, planning from a;
  if planning then
    perform pg_notify('weir_plan', '');
  end if;
  opened := 0;
  if free is not null then
    opened := weir._make_available(free, t);
  end if;
end $$;
comment on function weir._advance is 'Steps tasks to their next closed gate.';
