-- Registers a database, or changes what is known of it. Of a database that rollouts wait for, the engine stays; if it
-- moves to another environment, they find out.
-- moved: the transaction gives its secret a new address, so that what was found at the old one counts no more. Whoever
-- puts or drops a database of this name waits until it ends.
create or replace function weir.rollout_put_database(name text, engine text, environment text, secret text,
  labels jsonb default '{}', note text default null, by text default null, moved boolean default false,
  at timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_put_database.at);
  was weir.databases;
begin
  if coalesce(rollout_put_database.name, '') !~ '^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,79}$' then
    perform weir._invalid('name', 'letters, digits, and _ . : - inside, at most 80', hint => 'such as orders-eu');
  elsif rollout_put_database.engine is null or rollout_put_database.engine not in ('postgres', 'mysql') then
    perform weir._invalid('engine', '%L is not known', jsonb_build_array(rollout_put_database.engine),
      hint => 'postgres or mysql');
  elsif coalesce(rollout_put_database.environment, '') !~ '^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,59}$' then
    perform weir._invalid('environment', 'letters, digits, and _ . : - inside, at most 60',
      hint => 'such as test, staging or prod');
  elsif coalesce(rollout_put_database.secret, '') = '' then
    perform weir._invalid('secret', 'say under which name the vault keeps the address');
  end if;
  perform weir._check_labels(rollout_put_database.labels);
  perform weir._rollout_database_lock(rollout_put_database.name);
  -- Nobody drops the secret with another database that has it, too.
  perform from weir.secrets s where s.name = rollout_put_database.secret for key share;
  select * into was from weir.databases d where d.name = rollout_put_database.name;
  if was.engine <> rollout_put_database.engine then
    perform weir._invalid('engine', 'database %s is %s', jsonb_build_array(was.name, was.engine),
      hint => 'register another engine under another name');
  end if;
  insert into weir.databases as d (name, engine, environment, labels, secret, note, by, created_at, changed_at)
  values (rollout_put_database.name, rollout_put_database.engine, rollout_put_database.environment,
    coalesce(rollout_put_database.labels, '{}'), rollout_put_database.secret, rollout_put_database.note,
    rollout_put_database.by, t, t)
  on conflict on constraint databases_pkey do update set environment = excluded.environment, labels = excluded.labels,
    secret = excluded.secret, note = excluded.note, by = excluded.by, changed_at = t
  where rollout_put_database.moved
    or (d.environment, d.labels, d.secret, d.note) is distinct from (excluded.environment, excluded.labels,
      excluded.secret, excluded.note);
  if found then
    insert into weir.events (at, type, kind, subject, source, data)
    values (t, case when was.name is null then 'registered' else 'changed' end, 'database', rollout_put_database.name,
      rollout_put_database.by,
      jsonb_build_object('engine', rollout_put_database.engine, 'environment', rollout_put_database.environment));
  end if;
  return was.name is null;
end $$;
comment on function weir.rollout_put_database is 'Registers a database; true: it is new.';
