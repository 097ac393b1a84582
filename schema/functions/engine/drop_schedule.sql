-- Deletes a schedule. What it submitted stays.
create or replace function weir.drop_schedule(name text, by text default null, at timestamptz default null) returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  delete from weir.schedules s where s.name = drop_schedule.name;
  if not found then
    perform weir._not_found('schedule', drop_schedule.name);
  end if;
  insert into weir.events (at, type, kind, subject, source)
  values (weir._clock(drop_schedule.at), 'dropped', 'schedule', drop_schedule.name, drop_schedule.by);
end $$;
comment on function weir.drop_schedule is 'Deletes a schedule.';
