-- Writes down the schema of a database as the one to compare with. An executor does it after the last change of a rollout, unless it found another schema than the
-- accepted one before its first (drifted); a person accepts any.
create or replace function weir.rollout_snapshot(database text, hash text, text text, by text default null, drifted boolean default false, accept boolean default false, at timestamptz default null) returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_snapshot.at);
begin
  if rollout_snapshot.drifted then
    update weir.snapshots s set drifted = true where s.database = rollout_snapshot.database and s.hash <> rollout_snapshot.hash and not s.drifted;
    if found then
      insert into weir.events (at, type, kind, subject, source, level, message)
      values (t, 'drifted', 'database', rollout_snapshot.database, rollout_snapshot.by, 'warn', 'its schema is not the one that was last accepted');
    end if;
    return found;
  end if;
  insert into weir.snapshots as s (database, at, hash, text, by) values (rollout_snapshot.database, t, rollout_snapshot.hash, rollout_snapshot.text, rollout_snapshot.by)
  on conflict (database) do update set at = t, hash = excluded.hash, text = excluded.text, by = excluded.by, drifted = false where rollout_snapshot.accept or not s.drifted;
  if found and rollout_snapshot.accept then
    insert into weir.events (at, type, kind, subject, source, message) values (t, 'accepted', 'database', rollout_snapshot.database, rollout_snapshot.by, 'its schema as it is');
  end if;
  return found;
end $$;
comment on function weir.rollout_snapshot is 'The schema of a database to compare with.';
