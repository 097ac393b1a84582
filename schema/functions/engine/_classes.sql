-- Makes the classes of tasks that are to join jobs; of names the job of each. Before the jobs are locked: whoever makes
-- the same class at this moment may wait for one.
create or replace function weir._classes(specs weir.task_spec[], of uuid[]) returns void
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  with j as materialized (
    select j.id, j.priority
    from (select distinct o from unnest(of) o) o (job),
      lateral (select j.id, j.priority from weir.jobs j where j.id = o.job offset 0) j
  ), want as materialized (
    select distinct s.service, coalesce(s.priority, j.priority) as priority, coalesce(s.labels, '{}') as labels
    from unnest(specs) with ordinality s join j on j.id = of[s.ordinality]
  )
  insert into weir.classes (service, priority, labels)
  select w.* from want w
  where not exists (select from weir.classes c
    where c.service = w.service and c.priority = w.priority and c.labels = w.labels)
  order by 1, 2, 3
  on conflict do nothing;
end $$;
comment on function weir._classes is 'Makes the classes of tasks that join jobs.';
