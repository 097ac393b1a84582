-- Forgets a database. Refused while runs wait or run there. Returns its secret if no other database uses it.
create or replace function weir.rollout_drop_database(name text, by text default null, at timestamptz default null) returns text
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_drop_database.at);
  was weir.databases;
  live record;
begin
  select * into was from weir.databases d where d.name = rollout_drop_database.name for update;
  if not found then
    perform weir._not_found('database', rollout_drop_database.name);
  end if;
  select count(*) as n, min(x.rollout::text) as rollout into live from weir.rollout_tasks x where x.database = was.name and not exists (select from weir.finished f where f.task = x.task)
    and exists (select from weir.job_live l where l.job = x.rollout);
  if live.n > 0 then
    raise exception using errcode = 'WR409', message = format('database %s is in use: %s runs wait or run there', was.name, live.n), hint = format('let them end, or abort their rollout: weir rollout abort %s', live.rollout);
  end if;
  delete from weir.databases d where d.name = was.name;
  insert into weir.events (at, type, kind, subject, source) values (t, 'dropped', 'database', was.name, rollout_drop_database.by);
  return case when not exists (select from weir.databases d where d.secret = was.secret) then was.secret end;
end $$;
comment on function weir.rollout_drop_database is 'Forgets a database.';
