-- Runs a task again that failed or was canceled. Of several clicks one makes the run, and the others hear of it.
create or replace function weir.rollout_retry(task uuid, by text default null, at timestamptz default null,
  out changed boolean, out answer text)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  r weir.rollouts := weir._rollout_of(rollout_retry.task);
  x record;
begin
  select * into x from weir.rollout_task y where y.id = rollout_retry.task;
  if x.status in ('NOT_STARTED', 'PENDING', 'AVAILABLE') and x.attempt > 0
    or x.status = 'RUNNING' and x.attempt > 1 then
    changed := false;
    answer := format('%s runs again already: it is %s', x.key, x.status);
    return;
  end if;
  if x.status in ('FAILED', 'CANCELED') and (r.aborted_at is not null or r.replaced_by is not null) then
    perform weir._rollout_refuse_ended(r);
  elsif x.status not in ('FAILED', 'CANCELED') then
    perform weir._conflict('%s is %s: it cannot be retried', jsonb_build_array(x.key, x.status),
      hint => case x.status when 'UNKNOWN' then 'it may have been applied; say which'
        when 'DONE' then 'what is applied is not applied again'
      when 'SKIPPED' then 'what was skipped never runs; create another rollout'
        when 'RUNNING' then 'it runs; cancel it first' else 'it has not run yet' end,
      command => case x.status
        when 'UNKNOWN' then format('weir rollout resolve %s --applied or --not-applied', x.id) end);
  end if;
  changed := true;
  perform weir._rollout_retry_task(r, x.id, rollout_retry.by, rollout_retry.at);
  select * into x from weir.rollout_task y where y.id = x.id;
  answer := concat_ws(': ', format('%s runs again', x.key), case when x.status = 'PENDING' then x.cause end);
end $$;
comment on function weir.rollout_retry is 'Retries a task of a rollout.';
