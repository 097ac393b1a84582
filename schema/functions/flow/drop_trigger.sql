-- Deletes a trigger, its firings and its secrets. Jobs that it started stay, and keep what started them.
create or replace function weir.drop_trigger(name text, by text default null, at timestamptz default null) returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  was weir.triggers;
begin
  perform weir._check(weir._bad_text('by', drop_trigger.by, 500));
  delete from weir.triggers g where g.name = drop_trigger.name returning g.* into was;
  if not found then
    perform weir._not_found('trigger', drop_trigger.name);
  end if;
  delete from weir.firings f where f.trigger = drop_trigger.name;
  perform weir.drop_secret(s.name, by => drop_trigger.by) from weir.secrets s
  where s.name in (was.secret, was.secret_before);
  insert into weir.events (at, type, kind, subject, source)
  values (weir._clock(drop_trigger.at), 'dropped', 'trigger', drop_trigger.name, drop_trigger.by);
end $$;
comment on function weir.drop_trigger is 'Deletes a trigger.';
