-- Writes to fleet.execution_logs: a runner adds a line to an attempt that it holds. ACKED says that the device has
-- begun. The other words of the history are Weir's, which writes them with what they say.
create or replace function weir._fleet_log_row() returns trigger
language plpgsql security definer
set search_path = weir, pg_temp
as $$
declare
  t timestamptz := clock_timestamp();
  has record;
begin
  if tg_op <> 'INSERT' then
    perform weir._invalid(null, '%s of fleet.execution_logs: what happened stays', jsonb_build_array(lower(tg_op)),
      hint => 'history goes by its age');
  end if;
  if coalesce(new.event_type, '') = '' or length(new.event_type) > 100
    or new.event_type = any (weir._fleet_reserved_words()) then
    perform weir._invalid('event_type', '%L is not for runners to write', jsonb_build_array(new.event_type),
      hint => 'use ACKED or a name of your own; fleet.complete_task_device and fleet.fail_or_retry_task_device write '
        'how an attempt ended');
  end if;
  select * into has from weir._fleet_find_lease('log', new.task_device_id, new.pc_id, new.attempt_no, t);
  if has.token is null then
    return null;
  end if;
  if new.event_type = 'ACKED' then
    perform weir.start_many(array[new.task_device_id], array[has.attempt], array[has.token]);
  else
    perform weir.record(new.task_device_id, has.attempt, has.token, 'log', new.message,
      coalesce(new.data, '{}') || jsonb_build_object('event_type', new.event_type), new.level);
  end if;
  new.attempt_no := has.attempt;
  new.level := coalesce(new.level, 'info');
  new.created_at := t;
  return new;
end $$;
comment on function weir._fleet_log_row is 'A line that is inserted into fleet.execution_logs.';
