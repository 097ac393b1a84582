-- The floor under all hints and triggers: settles live rollouts whose holds are not what they should be. It writes nothing where nothing is wrong. Returns how many tasks changed.
create or replace function weir.rollout_sweep(at timestamptz default null) returns int
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_sweep.at);
  r weir.rollouts;
  facts jsonb;
  n int := 0;
  x record;
begin
  for r in select o.* from weir.job_live l join weir.rollouts o on o.job = l.job where l.watched order by o.job loop
    facts := (select coalesce(jsonb_agg(f), '[]') from weir._rollout_facts(r.job) f);
    continue when not exists (select from weir._rollout_want(r, facts, (select coalesce(jsonb_agg(s), '[]') from weir._rollout_stages(r, facts) s)));
    perform from weir.job_live l where l.job = r.job for update skip locked;
    continue when not found;
    select * into x from weir._rollout_settle(r.job, t);
    n := n + x.changed;
    perform weir._after('{}', x.lanes, x.pools, t);
    -- One in a turn: its lanes are open, and a job comes before lanes.
    exit;
  end loop;
  return n;
end $$;
comment on function weir.rollout_sweep is 'Settles a rollout that needs it.';
