-- Who called, also inside a security definer function: the role that was set, else the one that logged in. Null for the
-- owner of the schema, who may speak for everybody: a server does.
create or replace function weir._caller() returns text
language sql stable
as $$
  select c.role from (select coalesce(nullif(current_setting('role'), 'none'), session_user::text) as role) c
  where not pg_has_role(c.role, (select n.nspowner from pg_namespace n where n.nspname = 'weir'), 'usage')
$$;
comment on function weir._caller is 'The role that called; null for the owner of the schema.';
