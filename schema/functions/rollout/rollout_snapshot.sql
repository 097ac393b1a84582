-- Writes down the schema of a database as the one to compare with. An executor does it after every run that changed
-- something, and whoever finds out what became of an unknown one.
-- drifted: somebody found this schema instead of the kept one; if it is the kept one, all is well again. Once that is
-- flagged the kept schema stays until a person accepts another (accept), but what rollouts change is put into it:
-- follows is the hash of the kept one that the text was made from. mixed: what a rollout did could not be put into it.
create or replace function weir.rollout_snapshot(database text, hash text, text text, by text default null,
  drifted boolean default false, accept boolean default false, follows text default null, mixed text default null,
  at timestamptz default null) returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_snapshot.at);
begin
  if rollout_snapshot.drifted then
    update weir.snapshots s
    set drifted = s.hash <> rollout_snapshot.hash, mixed = case when s.hash <> rollout_snapshot.hash then s.mixed end
    where s.database = rollout_snapshot.database and s.drifted <> (s.hash <> rollout_snapshot.hash)
      and s.hash = coalesce(rollout_snapshot.follows, s.hash);
    if found then
      insert into weir.events (at, type, kind, subject, source, level, message)
      select t, case when s.drifted then 'drifted' else 'undrifted' end, 'database', s.database, rollout_snapshot.by,
        case when s.drifted then 'warn' end,
        case when s.drifted then 'its schema is not the one that was last accepted'
          else 'its schema is again the one that was last accepted' end
      from weir.snapshots s where s.database = rollout_snapshot.database;
      return true;
    end if;
    return false;
  elsif rollout_snapshot.mixed is not null then
    update weir.snapshots s set mixed = rollout_snapshot.mixed
    where s.database = rollout_snapshot.database and s.drifted;
    return found;
  elsif rollout_snapshot.follows is not null then
    update weir.snapshots s
    set at = t, hash = rollout_snapshot.hash, text = rollout_snapshot.text, by = rollout_snapshot.by
    where s.database = rollout_snapshot.database and s.hash = rollout_snapshot.follows and s.drifted;
    return found;
  end if;
  insert into weir.snapshots as s (database, at, hash, text, by)
  values (rollout_snapshot.database, t, rollout_snapshot.hash, rollout_snapshot.text, rollout_snapshot.by)
  on conflict (database) do update set at = t, hash = excluded.hash, text = excluded.text, by = excluded.by,
    drifted = false, mixed = null
  where rollout_snapshot.accept or not s.drifted;
  if found and rollout_snapshot.accept then
    insert into weir.events (at, type, kind, subject, source, message)
    values (t, 'accepted', 'database', rollout_snapshot.database, rollout_snapshot.by, 'its schema as it is');
  end if;
  return found;
end $$;
comment on function weir.rollout_snapshot is 'The schema of a database to compare with.';
