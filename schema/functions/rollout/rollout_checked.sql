-- What a look at a database found: which it is, and what is applied; or why it could not be looked at (fault); or only
-- that it answers (neither). Writes only what is other than before, and when it was looked at. Another database than
-- before behind the same name is a fault, until a person takes it for the right one (accept): then the schema that was
-- kept is that of another database, and goes.
-- seen: the row was last changed then. If it was changed since, the look may have been at another address: whoever
-- changed it looks himself.
create or replace function weir.rollout_checked(name text, identity text default null, server text default null,
  version text default null, rank bigint default null, fault text default null,
  seen timestamptz default null, accept boolean default false, by text default null, at timestamptz default null)
returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_checked.at);
  was weir.databases;
  wrong text := rollout_checked.fault;
begin
  select * into was from weir.databases d where d.name = rollout_checked.name for update;
  if not found then
    perform weir._not_found('database', rollout_checked.name);
  end if;
  if was.changed_at <> rollout_checked.seen then
    return;
  end if;
  if wrong is null and was.identity <> rollout_checked.identity and not rollout_checked.accept then
    wrong := format('its address leads to another database: expected %s, found %s; put the address back (weir database '
      'set %s), or take this one from now on (weir database check %3$s --accept)',
      was.identity, rollout_checked.identity, was.name);
  end if;
  if (case when rollout_checked.fault is null then was.fault is distinct from wrong else was.fault is null end) then
    insert into weir.events (at, type, kind, subject, source, level, message)
    values (t, case when wrong is null then 'reached' else 'unreached' end, 'database', was.name, rollout_checked.by,
      case when wrong is not null then 'warn' end, coalesce(weir._text(wrong), 'it answers'));
  end if;
  if wrong is not null or rollout_checked.identity is null then
    update weir.databases d set checked_at = t, fault = weir._text(wrong) where d.name = was.name;
    return;
  end if;
  update weir.databases d
  set checked_at = t, fault = null, identity = rollout_checked.identity, server = rollout_checked.server,
    version = rollout_checked.version, version_rank = rollout_checked.rank
  where d.name = was.name;
  if was.identity <> rollout_checked.identity then
    delete from weir.snapshots s where s.database = was.name;
    insert into weir.events (at, type, kind, subject, source, level, message)
    values (t, 'identity_changed', 'database', was.name, rollout_checked.by, 'warn',
      format('it is another database from now on: it was %s, it is %s; rollouts that were planned for that one do not '
        'run here',
        was.identity, rollout_checked.identity));
  end if;
end $$;
comment on function weir.rollout_checked is 'What a look at a database found.';
