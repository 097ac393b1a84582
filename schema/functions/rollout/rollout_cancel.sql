-- Cancels the run of a task: what waits ends at once, what runs is asked to stop and ends when its session is gone.
create or replace function weir.rollout_cancel(task uuid, by text default null, reason text default null,
  at timestamptz default null, out changed boolean, out answer text)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  r weir.rollouts := weir._rollout_of(rollout_cancel.task);
  x record;
begin
  select * into x from weir.rollout_task y where y.id = rollout_cancel.task;
  if x.status = 'CANCELED' or x.stopping then
    changed := false;
    answer := format('%s was %s before', x.key, case when x.stopping then 'asked to stop' else 'canceled' end);
    return;
  end if;
  if x.status in ('PENDING', 'AVAILABLE')
    and exists (select from weir.rollout_runs g
      where g.task = x.id and g.attempt = x.attempt and g.code = 'applied') then
    perform weir._conflict('%s was applied: it cannot be canceled', jsonb_build_array(x.key),
      hint => 'it ends as DONE by itself, nothing is run');
  end if;
  if x.status not in ('PENDING', 'AVAILABLE', 'RUNNING') then
    perform weir._conflict('%s is %s: there is no run to cancel', jsonb_build_array(x.key, x.status),
      hint => case x.status when 'NOT_STARTED' then 'skip it if it need not run'
        when 'UNKNOWN' then 'its session is gone or lost; say what became of it' else 'it has ended' end,
      command => case x.status when 'UNKNOWN' then format('weir rollout resolve %s', x.id) end);
  end if;
  changed := true;
  perform weir._act_as_owner('rollout');
  answer := case weir.cancel(x.id, rollout_cancel.by, rollout_cancel.reason, at => rollout_cancel.at)
    when 'requested' then format('%s was asked to stop', x.key) else format('%s canceled', x.key) end;
end $$;
comment on function weir.rollout_cancel is 'Cancels a run of a rollout.';
