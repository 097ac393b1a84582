-- Refuses doubled keys, needs that do not exist and rings. known are keys of tasks that are there already. Joins are by
-- hash, for a list may be long and the planner does not know it; the lists of needs are unfolded first, for beside a
-- loop that must be, the planner does not mind another one.
create or replace function weir._check_needs(specs weir.task_spec[], known text[] default '{}', most int default 10000)
returns void
language plpgsql stable
set search_path = weir, pg_temp
set enable_nestloop = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  bad text;
  want text;
begin
  if cardinality(specs) = 0 then
    perform weir._invalid('tasks', 'a job needs at least one task');
  end if;
  if cardinality(specs) > most then
    perform weir._invalid('tasks', '%s are over the limit of %s for one job',
      jsonb_build_array(cardinality(specs), most), hint => 'split the job, or map over the items');
  end if;
  select s.key into bad from unnest(specs) s where s.key is not null group by s.key having count(*) > 1 limit 1;
  if bad is not null then
    perform weir._invalid('key', 'two tasks are called %L', jsonb_build_array(bad));
  end if;
  select case when s.unique_key is not null then 'unique_key' else 'idempotency_key' end into bad from unnest(specs) s
  where s.unique_key is not null or s.idempotency_key is not null limit 1;
  if bad is not null then
    perform weir._invalid(bad, 'tasks of a job have no keys of their own', hint => 'give the job an idempotency_key');
  end if;
  if not exists (select from unnest(specs) s where cardinality(s.needs) > 0) then
    return;
  end if;
  with named as materialized (
    select coalesce(s.key, s.service) as task, w as need from unnest(specs) s, unnest(s.needs) w
  )
  select n.task, n.need into bad, want from named n
  where not exists (select from unnest(specs) k where k.key = n.need)
    and n.need not in (select k from unnest(known) k) limit 1;
  if want is not null then
    perform weir._invalid('needs', 'task %L needs %L, which is not a task of this job', jsonb_build_array(bad, want));
  end if;
  select coalesce(s.key, s.service), w into bad, want from unnest(specs) with ordinality s, unnest(s.needs) w
  group by s.ordinality, s.key, s.service, w having count(*) > 1 limit 1;
  if want is not null then
    perform weir._invalid('needs', 'task %L names %L twice', jsonb_build_array(bad, want));
  end if;
  bad := weir._find_cycle(specs);
  if bad is not null then
    perform weir._invalid('needs', 'these tasks wait for one another in a ring: %s', jsonb_build_array(bad),
      hint => 'remove one of the needs');
  end if;
end $$;
comment on function weir._check_needs is 'WR422 unless the needs of a job form a graph without rings.';
