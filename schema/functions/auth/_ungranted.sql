-- What grants.sql gave or took and is not so: a dump that is loaded where the roles are not there loses both, and then
-- everybody may call everything.
-- weir migrate asks, and applies grants.sql anew if there is an answer. Of each kind of grant one is looked at.
create or replace function weir._ungranted() returns setof text
language sql stable
set search_path = weir, pg_temp
as $$
  select format('there is no role %s', r) from unnest(array['weir_client', 'weir_worker']) r
  where not exists (select from pg_roles p where p.rolname = r)
  union all
  select format('%s may not use schema %s', p.rolname, n.nspname)
  from (values ('weir_client', 'weir'), ('weir_client', 'flow'), ('weir_client', 'fleet'), ('weir_worker', 'weir'),
    ('weir_worker', 'fleet')) x (role, place)
  join pg_roles p on p.rolname = x.role join pg_namespace n on n.nspname = x.place
  where not has_schema_privilege(p.oid, n.oid, 'usage')
  union all
  select format('%s may not call %s', p.rolname, f.oid::regproc)
  from (values ('weir_client', 'weir', 'submit'), ('weir_worker', 'weir', 'claim'),
    ('weir_worker', 'fleet', 'claim_task_devices_for_pc')) x (role, place, name)
  join pg_roles p on p.rolname = x.role join pg_namespace n on n.nspname = x.place
  join pg_proc f on f.pronamespace = n.oid and f.proname = x.name
  where not has_function_privilege(p.oid, f.oid, 'execute')
  union all
  select format('%s may not read %s', p.rolname, c.oid::regclass)
  from (values ('weir_client', 'weir', 'tasks'), ('weir_client', 'flow', 'jobs'), ('weir_client', 'fleet', 'tasks'),
    ('weir_worker', 'fleet', 'tasks')) x (role, place, name)
  join pg_roles p on p.rolname = x.role join pg_namespace n on n.nspname = x.place
  join pg_class c on c.relnamespace = n.oid and c.relname = x.name
  where not has_table_privilege(p.oid, c.oid, 'select')
  union all
  select format('everybody may call %s functions of schema %s', count(*), n.nspname)
  from pg_proc f
  join pg_namespace n on n.oid = f.pronamespace, aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) a
  where n.nspname in ('weir', 'flow', 'fleet') and a.grantee = 0 and a.privilege_type = 'EXECUTE' group by n.nspname
$$;
comment on function weir._ungranted is 'The roles and grants that are missing.';
