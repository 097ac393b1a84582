-- Stops a trigger, or lets it go on. What happens while it is paused starts nothing, also later; its firings say so.
create or replace function weir.pause_trigger(name text, paused boolean default true, by text default null,
  at timestamptz default null)
returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(pause_trigger.at);
begin
  perform weir._check(weir._bad_text('by', pause_trigger.by, 500));
  if pause_trigger.paused is null then
    perform weir._invalid('paused', 'true or false');
  end if;
  update weir.triggers g set paused = pause_trigger.paused, changed_at = t
  where g.name = pause_trigger.name and g.paused <> pause_trigger.paused;
  if found then
    insert into weir.events (at, type, kind, subject, source)
    values (t, case when pause_trigger.paused then 'paused' else 'resumed' end, 'trigger', pause_trigger.name,
      pause_trigger.by);
  elsif not exists (select from weir.triggers g where g.name = pause_trigger.name) then
    perform weir._not_found('trigger', pause_trigger.name);
  end if;
end $$;
comment on function weir.pause_trigger is 'Stops a trigger, or lets it go on.';
