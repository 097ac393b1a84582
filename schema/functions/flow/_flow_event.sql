-- Writes to flow.task_events: an insert is weir.log_event. What was told is never changed.
create or replace function weir._flow_event() returns trigger
language plpgsql security definer
set search_path = weir, pg_temp
as $$
begin
  if tg_op <> 'INSERT' then
    perform weir._invalid(null, '%s of flow.task_events: what was told stays', jsonb_build_array(lower(tg_op)),
      hint => 'insert another event');
  end if;
  if new.id is not null or new.ts is not null then
    perform weir._invalid(case when new.id is not null then 'id' else 'ts' end, 'it is given by the database',
      hint => 'leave it out');
  end if;
  new.ts := clock_timestamp();
  new.id := 131072 * weir.log_event(new.level, new.type, new.message, new.data, new.job_id, new.job_task_id,
    new.source);
  return new;
end $$;
comment on function weir._flow_event is 'Adds an event that was inserted into flow.task_events.';
