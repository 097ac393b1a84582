-- Gives one task the event that it waits for, for who has its link and knows nothing else of the job. When the task no
-- longer waits, there is nothing at the end of the link, unless this very event ended it.
create or replace function weir.signal_task(task uuid, payload jsonb default null, by text default null,
  at timestamptz default null)
returns int
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  a weir.asks;
begin
  select * into a from weir.asks x where x.task = signal_task.task and x.event is not null;
  if a.open or exists (select from weir.signals s
    where s.job = a.job and s.event = a.event and s.payload is not distinct from signal_task.payload) then
    return weir.signal(a.job, a.event, signal_task.payload, signal_task.by, signal_task.at);
  end if;
  perform weir._raise('WR404', null, 'there is no such link, or no longer');
  return 0;
end $$;
comment on function weir.signal_task is 'Gives a task the event that it waits for; 404 when it does not.';
