-- Takes an idempotency key for a new job, or says which job has it. body is what is asked for: the same key with
-- another one is refused, for one of the two would be dropped in silence. Null: whatever it is, as for the runs of a
-- schedule, which anybody may make up for.
create or replace function weir._take_key(key text, id uuid, body jsonb) returns uuid
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  mine text := weir._subject_key(_take_key.key);
  hash bytea := sha256(convert_to(_take_key.body::text, 'UTF8'));
  was weir.idempotency;
begin
  select * into was from weir.idempotency k where k.key = weir._plain_key(mine) and k.job and k.body is null;
  if found then
    return was.id;
  end if;
  insert into weir.idempotency as k (key, id, job, body) values (mine, _take_key.id, true, hash) on conflict do nothing;
  select * into was from weir.idempotency k where k.key = mine and k.job;
  if was.body <> hash then
    perform weir._invalid('idempotency_key', 'it was used before with another body',
      hint => 'use another key, or send what was sent before');
  end if;
  return was.id;
end $$;
comment on function weir._take_key is 'The job that has an idempotency key: the new one, or an older.';
