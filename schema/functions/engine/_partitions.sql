-- The partitions there are, with their range in time, whichever kind of key they have.
create or replace function weir._partitions() returns table (parent text, name text, lo timestamptz, hi timestamptz)
language sql stable
set search_path = weir, pg_temp
set timezone = 'UTC'
as $$
  select p.relname::text, c.relname::text, weir._bound_time(b[1]), weir._bound_time(b[2])
  from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent,
    lateral regexp_match(pg_get_expr(c.relpartbound, c.oid), $r$FROM \('([^']+)'\) TO \('([^']+)'\)$r$) b
  where p.relnamespace = 'weir'::regnamespace and p.relkind = 'p' and b is not null
$$;
comment on function weir._partitions is 'Partitions and their range in time.';
