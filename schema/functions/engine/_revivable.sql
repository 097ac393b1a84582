-- The tasks of these jobs that ended because of the given ones, which live again: dependents that were skipped, and
-- failed tasks that were split into them, and so on. A dependent stays skipped when another need of it failed as well.
-- The jobs are read once and followed in memory, because a look at all tasks for each step of a chain takes the square
-- of its length.
create or replace function weir._revivable(jobs uuid[], given uuid[]) returns uuid[]
language plpgsql stable
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  ids uuid[];
  outcomes text[];    -- how each ended; null: it has not, or lives again
  needs_all boolean[];  -- it goes on only if all of its needs are done
  splits boolean[];   -- was split into others
  ends boolean[];     -- of rule finally: it runs again behind any of its needs
  bad int[];          -- how many of its needs ended otherwise than done
  begins int[];       -- where its dependents begin in deps; one more at the end
  deps int[];
  parts boolean[];    -- this dependent was split into it
  todo int[];
  taken boolean[];
  found uuid[] := '{}';
  n int;
  k int := 1;
  d int;
begin
  with t as materialized (
    select row_number() over (order by q.job, q.position, q.id)::int as i, q.id, q.needs, q.awaits, q.rule, q.plan,
      case when f.passes then 'passes' else f.outcome::text end as outcome
    from weir.tasks q
    left join lateral (select f.outcome, f.passes from weir.finished f where f.task = q.id offset 0) f on true
    where q.job = any (jobs)
  ), e as materialized (
    select x.i as need, t.i as task, false as part from t, unnest(t.needs) u join t x on x.id = u
    union all
    select x.i, t.i, true from t, unnest(t.awaits) u join t x on x.id = u
  ), size as (
    select t.i, count(e.need)::int as n from t left join e on e.need = t.i group by t.i
  ), broken as (
    select e.task as i, count(*)::int as n from e join t on t.i = e.need
    where not e.part and t.outcome not in ('done', 'passes') group by e.task
  )
  select array_agg(t.id order by t.i), array_agg(t.outcome order by t.i),
    array_agg(coalesce(t.rule = 'all_success', false) order by t.i), array_agg(t.plan is true order by t.i),
    array_agg(coalesce(t.rule = 'finally', false) order by t.i),
    array_agg(coalesce(b.n, 0) order by t.i), array_agg(s.begins order by t.i) || (1 + sum(s.n))::int,
    array_agg(t.i order by t.i) filter (where t.id in (select unnest(given))),
    (select array_agg(e.task order by e.need, e.task, e.part) from e),
    (select array_agg(e.part order by e.need, e.task, e.part) from e)
  into ids, outcomes, needs_all, splits, ends, bad, begins, todo, deps, parts
  from t
  join (select size.*,
    (1
      + coalesce(sum(size.n) over (order by size.i rows between unbounded preceding and 1 preceding), 0))::int as begins
    from size) s
    on s.i = t.i
    left join broken b on b.i = t.i;
  n := cardinality(todo);
  taken := array_fill(false, array[cardinality(ids)]);
  while k <= n loop
    for j in begins[todo[k]] .. begins[todo[k] + 1] - 1 loop
      d := deps[j];
      if not parts[j] and taken[todo[k]] then
        bad[d] := bad[d] - 1; -- of those given, nobody counts the end any more
      end if;
      if not taken[d]
        and (parts[j] and splits[d] and outcomes[d] = 'failed'
          or not parts[j] and ends[d] and outcomes[d] is not null
          or not parts[j] and outcomes[d] = 'skipped' and (not needs_all[d] or bad[d] = 0)) then
        taken[d] := true;
        found := found || ids[d];
        n := n + 1;
        todo[n] := d;
      end if;
    end loop;
    k := k + 1;
  end loop;
  return found;
end $$;
comment on function weir._revivable is 'What ended because of tasks that live again.';
