-- The floor under all hints and triggers: settles a live rollout whose holds are not what they should be. It writes
-- nothing where nothing is wrong. Returns how many tasks changed.
create or replace function weir.rollout_sweep(at timestamptz default null) returns int
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_sweep.at);
  id uuid;
  x record;
begin
  for id in select distinct w.rollout
    from weir._rollout_wrong_holds(array(select l.job from weir.job_live l where l.watched)) w order by 1 loop
    perform from weir.job_live l where l.job = id for update skip locked;
    continue when not found;
    select * into x from weir._rollout_settle(id, t);
    perform weir._after_end('{}', x.lanes, x.pools, t);
    -- One in a turn: its lanes are open, and a job comes before lanes.
    return x.changed;
  end loop;
  return 0;
end $$;
comment on function weir.rollout_sweep is 'Settles a rollout that needs it.';
