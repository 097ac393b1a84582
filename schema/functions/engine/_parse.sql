-- Reads the JSON of a submission into typed rows and refuses what no task may have. Writes nothing.
create or replace function weir._parse(tasks jsonb) returns weir.task_spec[]
language plpgsql stable
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  specs weir.task_spec[];
  bad text;
  fix text;
begin
  if jsonb_typeof(_parse.tasks) is distinct from 'array' then
    perform weir._invalid('tasks: expected a JSON array of objects, got ' || coalesce(jsonb_typeof(tasks), 'null'));
  end if;
  select case when jsonb_typeof(e) <> 'object' then 'tasks: expected objects, got ' || jsonb_typeof(e) else format('%s: a task has no such field', k) end into bad
  from jsonb_array_elements(tasks) e left join lateral jsonb_object_keys(case when jsonb_typeof(e) = 'object' then e else '{}' end) k on true
  where jsonb_typeof(e) <> 'object' or k not in ('service', 'params', 'key', 'needs', 'rule', 'priority', 'labels', 'run_at', 'hold', 'lane', 'rank', 'exclusive', 'pool',
    'max_attempts', 'timeout', 'backoff', 'backoff_cap', 'orphan', 'idempotency_key', 'unique_key', 'trace', 'plan', 'run')
  limit 1;
  if bad is not null then
    perform weir._invalid(bad, 'the fields are those of type weir.task_spec');
  end if;
  begin
    specs := array(select r from jsonb_populate_recordset(null::weir.task_spec, tasks) r);
  exception when data_exception then
    perform weir._blame(tasks);
  end;
  select format('task %s: %s', ordinality, e), case when e like 'pool: there is no %' then format('create it first: select weir.set_pool(%L, size => 10)', pool) end
  into bad, fix
  from unnest(specs) with ordinality s,
  lateral (select case
    when coalesce(service, '') = '' then 'service: say who does the work'
    when weir._bad_text('service', service) is not null then weir._bad_text('service', service)
    when priority not between -100 and 100 then format('priority: %s is outside -100 .. 100', priority)
    when pg_column_size(params) > 16 * 1024 * 1024 then format('params: %s bytes are over the limit of 16 MiB; put the data in a bucket and pass its key', pg_column_size(params))
    when labels is not null and (jsonb_typeof(labels) <> 'object' or exists (select from jsonb_each(labels) v where jsonb_typeof(v.value) <> 'string')) then 'labels: expected an object with string values'
    when weir._bad_time('run_at', run_at) is not null then weir._bad_time('run_at', run_at)
    when hold = '' then 'hold: say who must release it or what it waits for'
    when lane = '' or length(lane) > 200 then 'lane: 1 to 200 characters'
    when lane is null and (rank is not null or exclusive) then 'lane: rank and exclusive need a lane'
    when pool is not null and not exists (select from weir.pools p where p.name = pool) then format('pool: there is no pool %L', pool)
    when max_attempts not between 1 and 10000 then format('max_attempts: %s is outside 1 .. 10000', max_attempts)
    when weir._bad_span('timeout', timeout) is not null then weir._bad_span('timeout', timeout)
    when weir._bad_span('backoff', backoff, true) is not null then weir._bad_span('backoff', backoff, true)
    when weir._bad_span('backoff_cap', backoff_cap, true) is not null then weir._bad_span('backoff_cap', backoff_cap, true)
    when orphan not in ('requeue', 'stop') then 'orphan: requeue or stop'
    when idempotency_key = '' or length(idempotency_key) > 500 then 'idempotency_key: 1 to 500 characters'
    when unique_key = '' or length(unique_key) > 500 then 'unique_key: 1 to 500 characters'
    when weir._bad_text('key', key) is not null then weir._bad_text('key', key)
    when weir._bad_text('hold', hold, 1000) is not null then weir._bad_text('hold', hold, 1000)
    when weir._bad_text('trace', trace, 1000) is not null then weir._bad_text('trace', trace, 1000)
    when jsonb_typeof(run) <> 'object' then 'run: expected an object'
    when pg_column_size(run) > 1024 * 1024 then format('run: %s bytes are over the limit of 1 MiB', pg_column_size(run))
    when array_position(needs, null) is not null then 'needs: holds a null'
  end) x (e)
  where e is not null order by ordinality limit 1;
  if bad is not null then
    perform weir._invalid(bad, fix);
  end if;
  return specs;
end $$;
comment on function weir._parse is 'Typed rows from a JSON array of tasks, or WR422.';
