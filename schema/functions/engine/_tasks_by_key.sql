-- The tasks of a job that have these keys, in their order; null where there is none. One pass over the job, whatever
-- the number of keys.
create or replace function weir._tasks_by_key(of_job uuid, keys text[]) returns uuid[]
language sql stable
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = off
set enable_mergejoin = off
as $$
  select coalesce(array_agg(q.id order by k.n), '{}')
  from unnest(keys) with ordinality k (key, n)
  left join (select q.id, q.key from weir.tasks q where q.job = of_job and q.key is not null) q on q.key = k.key
$$;
comment on function weir._tasks_by_key is 'Tasks of a job by their keys.';
