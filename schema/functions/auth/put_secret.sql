-- Stores a secret that the server has sealed for this version: the first one, or the one after that which is stored.
-- False says that somebody else was quicker: seal it again for the next one. The value never gets here.
create or replace function weir.put_secret(name text, sealed bytea, key_id text, version int, by text default null,
  note text default null, at timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(put_secret.at);
begin
  if put_secret.name is null or put_secret.name !~ '^[A-Za-z_][A-Za-z0-9_]{0,99}$' then
    perform weir._invalid('name', 'letters, digits and _, not a digit first, at most 100');
  end if;
  if put_secret.version = 1 then
    insert into weir.secrets as s (name, sealed, key_id, version, by, note, created_at, changed_at)
    values (put_secret.name, put_secret.sealed, put_secret.key_id, 1, put_secret.by, put_secret.note, t, t)
    on conflict (name) do nothing;
  else
    update weir.secrets s
    set sealed = put_secret.sealed, key_id = put_secret.key_id, version = put_secret.version, by = put_secret.by,
      note = coalesce(put_secret.note, s.note), changed_at = t
    where s.name = put_secret.name and s.version = put_secret.version - 1;
  end if;
  if not found then
    return false;
  end if;
  insert into weir.events (at, type, kind, subject, source, data)
  values (t, 'set', 'secret', put_secret.name, put_secret.by, jsonb_build_object('version', put_secret.version));
  return true;
end $$;
comment on function weir.put_secret is 'Stores a sealed secret; false: somebody else has set it meanwhile.';
