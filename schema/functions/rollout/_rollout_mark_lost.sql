-- Attempts that ended badly without a word of their executor: if something may have been sent, nobody knows, and the
-- run is UNKNOWN until somebody does.
-- A run that was canceled and may have been applied blocks higher versions as a failed one does; so does one that was
-- canceled alone, until somebody decides.
create or replace function weir._rollout_mark_lost(r weir.rollouts, facts jsonb, t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  bad uuid[] := array(select unnest(x.bad) from jsonb_to_recordset(facts) x (bad uuid[]));
  canceled uuid[] := array(select unnest(x.bad) from jsonb_to_recordset(facts) x (bad uuid[], outcome text)
    where x.outcome = 'canceled');
  lost boolean;
begin
  if cardinality(bad) = 0 then
    return;
  end if;
  with u as (
    -- Whoever was lost between its claim and its brief has no run yet.
    insert into weir.rollout_runs as g (task, attempt, token, phase, claimed_at, ended_at, code, look_at)
    select b.task, f.attempt, gen_random_uuid(), 'claimed', f.started_at, t, 'lost_before_sent', t
    from unnest(bad) b (task),
      lateral (select f.attempt, f.started_at from weir.finished f where f.task = b.task offset 0) f
    -- One that was canceled while it waited has an attempt that was judged before.
    where f.started_at is not null
    on conflict (task, attempt) do update set unknown = g.phase in ('sent', 'applied'),
      code = case when g.phase in ('sent', 'applied') then 'lost' else 'lost_before_sent' end,
      ended_at = coalesce(g.ended_at, t), look_at = t
    where g.code is null
    returning g.unknown
  ) select bool_or(u.unknown) into lost from u;
  insert into weir.lane_blocks (lane, rank, task, at)
  select q.lane, q.rank, q.id, t
  from unnest(canceled) c (task), lateral (select q.id, q.lane, q.rank from weir.tasks q where q.id = c.task offset 0) q
  where q.rank is not null and not exists (select from weir.lane_blocks b where b.task = q.id)
    and not exists (
      select from weir.rollout_tasks me
      join weir.rollout_tasks o on o.database = me.database and o.version = me.version and o.task <> me.task, lateral (
        select from weir.finished f where f.task = o.task and f.outcome = 'done' offset 0) f
      where me.task = q.id)
    and (r.aborted_at is null or exists (select from weir.rollout_runs g where g.task = q.id and g.unknown))
  on conflict do nothing;
  if lost then
    perform pg_notify('weir_rollout', '');
  end if;
end $$;
comment on function weir._rollout_mark_lost is 'Marks runs whose executor was lost, and lanes that they block.';
