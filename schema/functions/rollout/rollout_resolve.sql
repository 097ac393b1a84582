-- A person says what became of an UNKNOWN run. Whoever says applied has written the history row first: see the store.
create or replace function weir.rollout_resolve(task uuid, applied boolean, reason text, by text default null,
  at timestamptz default null, out changed boolean, out answer text)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  r weir.rollouts := weir._rollout_of(rollout_resolve.task);
  x record;
begin
  if coalesce(rollout_resolve.reason, '') = '' then
    perform weir._invalid('reason', 'say how you know');
  end if;
  select * into x from weir.rollout_task y where y.id = rollout_resolve.task;
  if x.status <> 'UNKNOWN' then
    perform weir._conflict('%s is %s: there is nothing to resolve', jsonb_build_array(x.key, x.status),
      hint => case when x.code in ('applied', 'not_applied', 'partial') then 'it was resolved before'
        else 'only an UNKNOWN run is resolved' end);
  end if;
  changed := true;
  perform weir._rollout_resolved(r, x.id, case when rollout_resolve.applied then 'applied' else 'not_applied' end,
    rollout_resolve.reason, coalesce(rollout_resolve.by, session_user), rollout_resolve.at);
  answer := case when rollout_resolve.applied then format('%s was applied: it ends as DONE', x.key)
    else format('%s was not applied: it is FAILED and may be retried', x.key) end;
end $$;
comment on function weir.rollout_resolve is 'Says what became of an unknown run.';
