-- The first tasks that can never start because they wait for one another, as text; null when there are none. Tasks are
-- taken away as soon as all that they need is away; what is left is a ring, or waits for one. Each need is looked at
-- once. A list in which every need stands before its dependent has no ring.
-- The caller has switched loops off, as weir._check_needs does.
create or replace function weir._find_cycle(specs weir.task_spec[]) returns text
language plpgsql stable
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  dependents int[];  -- of the first task, then of the second …
  starts int[];      -- where those of each task begin; one more for the end
  unmet int[];       -- how many needs of each task are not away
  away int[];
  backwards boolean;
  x int;
  y int;
  i int := 1;
begin
  with named as materialized (
    select s.ordinality::int as task, w as key from unnest(specs) with ordinality s, unnest(s.needs) w
  ), edge as materialized (
    select k.ordinality::int as need, n.task from named n join unnest(specs) with ordinality k on k.key = n.key
  )
  select (select array_agg(e.task order by e.need) from edge e),
    (select array_agg(c.before + 1 order by c.g) from (
      select g, coalesce(sum(o.n) over (order by g rows between unbounded preceding and 1 preceding), 0) as before
      from generate_series(1, cardinality(specs) + 1) g
      left join (select e.need, count(*) as n from edge e group by e.need) o on o.need = g) c),
    (select array_agg(coalesce(o.n, 0) order by g) from generate_series(1, cardinality(specs)) g
      left join (select e.task, count(*) as n from edge e group by e.task) o on o.task = g),
    (select bool_or(e.need >= e.task) from edge e)
  into dependents, starts, unmet, backwards;
  if backwards is not true then
    return null;
  end if;
  away := array(select g from generate_subscripts(unmet, 1) g where unmet[g] = 0);
  while i <= cardinality(away) loop
    x := away[i];
    for n in starts[x]..starts[x + 1] - 1 loop
      y := dependents[n];
      unmet[y] := unmet[y] - 1;
      if unmet[y] = 0 then
        away := array_append(away, y);
      end if;
    end loop;
    i := i + 1;
  end loop;
  return (
    select string_agg(format('%L', r.key), ', ' order by r.key)
    from (select coalesce(s.key, s.service) as key from unnest(specs) with ordinality s where unmet[s.ordinality] > 0
      order by 1 limit 10) r);
end $$;
comment on function weir._find_cycle is 'Tasks that wait for one another.';
