-- Many tasks in one call. hint => false keeps quiet: the caller tells the workers itself, outside its transaction.
create or replace function weir.submit_many(tasks jsonb, hint boolean default true, at timestamptz default null)
returns table (n int, task uuid, existed boolean)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  specs weir.task_spec[] := weir._parse(tasks);
  bad text;
begin
  select s.key into bad from unnest(specs) s where cardinality(s.needs) > 0 or s.rule is not null limit 1;
  if found then
    perform weir._invalid('needs', 'only tasks of a job can need one another', hint => 'use weir.submit_job');
  end if;
  return query select * from weir._submit(specs, null, null, weir._clock(at));
  if hint then
    perform weir._hint(specs);
  end if;
end $$;
comment on function weir.submit_many is
  'Submits an array of tasks, each an object with the fields of weir.task_spec. Returns their ids in order; existed: '
  'a task with that key was there already.';
