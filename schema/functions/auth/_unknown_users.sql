-- Those of some names that no user has, in the same order; role:NAME is none of them. An approval may name users who
-- come later.
create or replace function weir._unknown_users(names text[]) returns text[]
language sql stable
set search_path = weir, pg_temp
as $$
  select coalesce(array_agg(n.name order by n.place), '{}') from unnest(names) with ordinality n (name, place)
  where n.name not like 'role:%' and not exists (select from weir.users u where u.name = n.name)
$$;
comment on function weir._unknown_users is 'Names that no user has.';
