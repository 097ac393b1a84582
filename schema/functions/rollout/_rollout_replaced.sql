-- The rollout that an edit is made of, or why it cannot be edited.
create or replace function weir._rollout_replaced(id uuid, hash text) returns weir.rollouts
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  r weir.rollouts := weir._rollout(_rollout_replaced.id);
  ran text;
begin
  if r.replaced_by is not null then
    perform weir._conflict('rollout %s was replaced by %s', jsonb_build_array(r.job, r.replaced_by),
      hint => 'edit that one');
  end if;
  perform weir._rollout_refuse_ended(r);
  if r.hash = _rollout_replaced.hash then
    perform weir._conflict('rollout %s has this plan already', jsonb_build_array(r.job),
      hint => 'change something, or leave it');
  end if;
  select k.key into ran
  from weir.rollout_tasks x, lateral (select q.key from weir.tasks q where q.id = x.task offset 0) k
  where x.rollout = r.job
    and (exists (select from weir.running g where g.task = x.task)
      or exists (select from weir.rollout_runs g where g.task = x.task)) limit 1;
  if ran is not null then
    perform weir._conflict('rollout %s has begun: %s has run', jsonb_build_array(r.job, ran),
      hint => 'abort it and create another; what is applied already is not applied again');
  end if;
  return r;
end $$;
comment on function weir._rollout_replaced is 'The rollout to be edited, or WR409.';
