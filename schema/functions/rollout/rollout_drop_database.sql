-- Forgets a database and, if no other has it, its secret. Refused while runs wait or run there. Returns the secret that
-- is gone.
create or replace function weir.rollout_drop_database(name text, by text default null, at timestamptz default null)
returns text
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_drop_database.at);
  was weir.databases;
  live record;
begin
  perform weir._rollout_database_lock(rollout_drop_database.name);
  -- A rollout that is just being made has it: see weir.rollout_create.
  select * into was from weir.databases d where d.name = rollout_drop_database.name for update;
  if not found then
    perform weir._not_found('database', rollout_drop_database.name, hint => 'see what there is',
      command => 'weir database list');
  end if;
  select count(*) as n, min(x.rollout::text) as rollout into live from weir.rollout_tasks x
  where x.database = was.name and not exists (select from weir.finished f where f.task = x.task)
    and exists (select from weir.job_live l where l.job = x.rollout);
  if live.n > 0 then
    perform weir._conflict('database %s is in use: %s there',
      jsonb_build_array(was.name,
        case live.n when 1 then '1 run waits or runs' else format('%s runs wait or run', live.n) end),
      hint => 'let them end, or abort their rollout', command => format('weir rollout abort %s', live.rollout));
  end if;
  delete from weir.databases d where d.name = was.name;
  insert into weir.events (at, type, kind, subject, source)
  values (t, 'dropped', 'database', was.name, rollout_drop_database.by);
  perform from weir.secrets s where s.name = was.secret for update;
  if not found or exists (select from weir.databases d where d.secret = was.secret) then
    return null;
  end if;
  perform weir.drop_secret(was.secret, rollout_drop_database.by, at => rollout_drop_database.at);
  return was.secret;
end $$;
comment on function weir.rollout_drop_database is 'Forgets a database.';
