-- What a look at a database found: which it is, and what is applied; or why it could not be looked at. Writes only what is other than before, and when it was looked at.
create or replace function weir.rollout_checked(name text, identity text default null, server text default null, version text default null, rank bigint default null, fault text default null, at timestamptz default null) returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_checked.at);
  was weir.databases;
begin
  select * into was from weir.databases d where d.name = rollout_checked.name for update;
  if not found then
    perform weir._not_found('database', rollout_checked.name);
  end if;
  if rollout_checked.fault is not null then
    update weir.databases d set checked_at = t, fault = rollout_checked.fault where d.name = was.name;
    return;
  end if;
  update weir.databases d set checked_at = t, fault = null, identity = rollout_checked.identity, server = rollout_checked.server, version = rollout_checked.version, version_rank = rollout_checked.rank
  where d.name = was.name;
  if was.identity <> rollout_checked.identity then
    insert into weir.events (at, type, kind, subject, level, message)
    values (t, 'identity_changed', 'database', was.name, 'warn', 'its address leads to another database than before; rollouts that were planned for that one do not run here');
  end if;
end $$;
comment on function weir.rollout_checked is 'What a look at a database found.';
