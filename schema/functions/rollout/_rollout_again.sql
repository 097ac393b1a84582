-- Gives a task of a rollout another run. The limit of a rollout that had ended is there again.
create or replace function weir._rollout_again(r weir.rollouts, task uuid, by text, at timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  insert into weir.pools (name, size, resized_at) select 'rollout/' || r.job, (r.plan ->> 'parallel')::int, weir._clock(_rollout_again.at) where (r.plan ->> 'parallel')::int > 0 on conflict do nothing;
  perform weir._acts('rollout');
  perform weir.retry(_rollout_again.task, _rollout_again.by, at => _rollout_again.at);
end $$;
comment on function weir._rollout_again is 'Retries a task.';
