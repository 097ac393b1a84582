-- Refuses a decision about a held task that is not for these names, or that no person takes, and else notes that it was
-- taken. Null names: the caller has the database and may do everything.
create or replace function weir._may_decide(of_task uuid, names text[]) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  a weir.asks;
begin
  select * into a from weir.asks x where x.task = of_task and x.open;
  if not found then
    return;
  end if;
  -- The job comes before its tasks: see weir._settle. The answer may have come while we waited.
  perform from weir.job_live j where j.job = a.job for update;
  update weir.asks x set open = false where x.task = of_task and x.open;
  if not found then
    return;
  end if;
  if a.event is not null then
    perform weir._conflict('task %s waits for the event %L, not for a person', jsonb_build_array(of_task, a.event),
      hint => 'send the event, or skip the task', command => 'weir job signal --help');
  end if;
  if names is not null and not a.deciders && names then
    perform weir._raise('WR403', null, 'only these may decide about task %s: %s',
      jsonb_build_array(of_task, array_to_string(a.deciders, ', ')), hint => 'ask one of them');
  end if;
end $$;
comment on function weir._may_decide is 'WR403 if a decision is not for this caller; else it is noted.';
