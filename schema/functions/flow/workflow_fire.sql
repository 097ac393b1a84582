-- Carries out what was decided about pending firings: an array of objects with trigger, key, state (started, ignored or
-- failed), reason, and the job to open. A firing that is not pending any more is left alone, so each of them starts at
-- most one job, whatever the number of callers and however often one repeats. Firings are locked in their order. A
-- trigger that was paused meanwhile starts nothing. Returns how many firings it ended.
create or replace function weir.workflow_fire(fires jsonb, at timestamptz default null) returns int
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workflow_fire.at);
  ended int := 0;
  is_paused boolean;
  made uuid;
  x record;
begin
  for x in select r.*
    from jsonb_to_recordset(workflow_fire.fires) r (trigger text, key text, state text, reason jsonb, name text,
      definition uuid, priority int, params jsonb, options jsonb, trace text)
    order by r.trigger, r.key loop
    perform from weir.firings f where f.trigger = x.trigger and f.key = x.key and f.state = 'pending' for update;
    continue when not found;
    select g.paused into is_paused from weir.triggers g where g.name = x.trigger;
    made := null;
    if is_paused is not false and x.state = 'started' then
      x.state := 'ignored';
      x.reason := jsonb_build_object('code', 'trigger_paused');
    elsif x.state = 'started' then
      made := weir.open_job(x.name, kind => 'workflow', priority => coalesce(x.priority, 0), params => x.params,
        idempotency_key => format('trigger:%s:%s', x.trigger, x.key), trace => x.trace, definition => x.definition,
        options => x.options, at => t);
    end if;
    perform weir._fired(x.trigger, x.key, x.state, x.reason, made, t);
    ended := ended + 1;
  end loop;
  return ended;
end $$;
comment on function weir.workflow_fire is 'Carries out what was decided about firings.';
