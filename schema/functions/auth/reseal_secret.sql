-- The same version of a secret, sealed with another key. False says that it has changed since it was read: there is
-- nothing to do.
create or replace function weir.reseal_secret(name text, version int, was_key text, sealed bytea, key_id text,
  at timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  update weir.secrets s set sealed = reseal_secret.sealed, key_id = reseal_secret.key_id
  where s.name = reseal_secret.name and s.version = reseal_secret.version and s.key_id = reseal_secret.was_key;
  if not found then
    return false;
  end if;
  insert into weir.events (at, type, kind, subject, data)
  values (weir._clock(reseal_secret.at), 'resealed', 'secret', reseal_secret.name,
    jsonb_build_object('key', reseal_secret.key_id));
  return true;
end $$;
comment on function weir.reseal_secret is 'Replaces the seal of a secret, not its value.';
