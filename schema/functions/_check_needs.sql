-- Refuses doubled keys, needs that do not exist and rings. A list in which every need stands before its dependent is checked by one join;
-- any other list is peeled from its roots.
create or replace function weir._check_needs(specs weir.task_spec[]) returns void
language plpgsql stable
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  bad text;
  want text;
  done text[];
  wave text[];
begin
  if cardinality(specs) = 0 then
    perform weir._invalid('tasks: a job needs at least one task');
  end if;
  if cardinality(specs) > 10000 then
    perform weir._invalid(format('tasks: %s are over the limit of 10000 for one job', cardinality(specs)), 'split the job, or map over the items');
  end if;
  select s.key into bad from unnest(specs) s where s.key is not null group by s.key having count(*) > 1 limit 1;
  if bad is not null then
    perform weir._invalid(format('key: two tasks are called %L', bad));
  end if;
  select coalesce(s.key, s.service), w into bad, want from unnest(specs) s, unnest(s.needs) w
  where not exists (select from unnest(specs) k where k.key = w) limit 1;
  if want is not null then
    perform weir._invalid(format('needs: task %L needs %L, which is not a task of this job', bad, want));
  end if;
  select coalesce(s.key, s.service), w into bad, want from unnest(specs) s, unnest(s.needs) w group by s.key, s.service, w having count(*) > 1 limit 1;
  if want is not null then
    perform weir._invalid(format('needs: task %L names %L twice', bad, want));
  end if;
  if exists (select from unnest(specs) s where s.unique_key is not null or s.idempotency_key is not null) then
    perform weir._invalid('unique_key: tasks of a job have no keys of their own', 'give the job an idempotency_key');
  end if;
  if not exists (select from unnest(specs) with ordinality s, unnest(s.needs) w join unnest(specs) with ordinality k on k.key = w where k.ordinality >= s.ordinality) then
    return;
  end if;
  done := array(select s.key from unnest(specs) s where s.key is not null and coalesce(cardinality(s.needs), 0) = 0);
  loop
    wave := array(select s.key from unnest(specs) s where s.key is not null and s.key <> all (done) and s.needs <@ done);
    exit when cardinality(wave) = 0;
    done := done || wave;
  end loop;
  select string_agg(format('%L', s.key), ', ' order by s.key) into bad from (select s.key from unnest(specs) s where s.key is not null and s.key <> all (done) limit 10) s;
  if bad is not null then
    perform weir._invalid(format('needs: these tasks wait for one another in a ring: %s', bad), 'remove one of the needs');
  end if;
end $$;
comment on function weir._check_needs is 'WR422 unless the needs of a job form a graph without rings.';
