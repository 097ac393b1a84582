-- Gives a task of a rollout another run. The limit of a rollout that had ended is there again.
create or replace function weir._rollout_retry_task(r weir.rollouts, task uuid, by text, at timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  insert into weir.pools (name, size, resized_at)
  select 'rollout/' || r.job, (r.plan ->> 'parallel')::int, weir._clock(_rollout_retry_task.at)
  where (r.plan ->> 'parallel')::int > 0 on conflict do nothing;
  perform weir._act_as_owner('rollout');
  perform weir.retry(_rollout_retry_task.task, _rollout_retry_task.by, at => _rollout_retry_task.at);
end $$;
comment on function weir._rollout_retry_task is 'Retries a task.';
