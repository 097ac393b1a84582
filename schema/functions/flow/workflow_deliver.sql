-- A delivery to a webhook whose signature is right: its firing, and what was decided about it, in one transaction. key
-- is the id of the delivery; one that has started a run before starts nothing and returns that, so a sender may repeat.
-- fire is as in weir.workflow_fire.
create or replace function weir.workflow_deliver(trigger text, key text, fire jsonb, at timestamptz default null)
returns table (state text, reason jsonb, job uuid, again boolean)
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workflow_deliver.at);
begin
  perform weir._check(weir._bad_text('key', workflow_deliver.key));
  insert into weir.firings as f (trigger, key, at, state)
  values (workflow_deliver.trigger, workflow_deliver.key, t, 'pending')
  on conflict (trigger, key) do update set state = 'pending', at = excluded.at
  where f.state in ('ignored', 'failed');
  again := not found;
  if not again then
    perform weir.workflow_fire(jsonb_build_array(workflow_deliver.fire || jsonb_build_object(
        'trigger', workflow_deliver.trigger, 'key', workflow_deliver.key)), at => t);
  end if;
  return query select f.state, f.reason, f.job, again from weir.firings f
    where f.trigger = workflow_deliver.trigger and f.key = workflow_deliver.key;
end $$;
comment on function weir.workflow_deliver is 'Starts the run of a delivery to a webhook, once.';
