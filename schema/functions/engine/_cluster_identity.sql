-- The identity of the cluster: made by initdb, kept by backups, standbys and promotion, another one after a dump was
-- loaded elsewhere or pg_upgrade.
-- Null where the administrator took the right to read it away: then nobody but an operator can say that this is another
-- cluster.
create or replace function weir._cluster_identity() returns bigint
language plpgsql stable
set search_path = weir, pg_temp
as $$
begin
  if has_function_privilege('pg_catalog.pg_control_system()', 'execute') then
    return (select c.system_identifier from pg_catalog.pg_control_system() c);
  end if;
  return null;
end $$;
comment on function weir._cluster_identity is 'The system identifier of the cluster.';
