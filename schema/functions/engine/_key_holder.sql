-- Who has the lock of a lane or pool now, as a reason; null: nobody else. Openers have it for a moment, an open
-- transaction that ended a task of it until it ends.
create or replace function weir._key_holder(lane boolean, key text) returns jsonb
language sql stable
set search_path = weir, pg_temp
as $$
  select jsonb_build_object('code', 'key_holder', 'pid', a.pid, 'since', weir._instant(a.xact_start),
    'name', coalesce(to_jsonb(nullif(a.application_name, '')), '{"code": "no_name"}'))
  from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory' and l.objsubid = 2 and l.granted and l.mode = 'ExclusiveLock'
    and (l.classid = 87 and l.objid = weir._key_bucket(lane, key)
      or l.classid = case when lane then 94 else 95 end and l.objid = (hashtext(key)::bigint & 4294967295)::oid)
    and l.database = (select d.oid from pg_database d where d.datname = current_database())
      and l.pid <> pg_backend_pid()
  limit 1
$$;
comment on function weir._key_holder is 'The transaction that has the lock of a key.';
