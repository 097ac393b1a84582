-- Reads the JSON of a submission into typed rows and refuses what no task may have. Writes nothing.
create or replace function weir._parse(tasks jsonb) returns weir.task_spec[]
language plpgsql stable
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  specs weir.task_spec[];
  bad jsonb;
  place bigint;
  fix text;
  fields jsonb := to_jsonb(jsonb_populate_record(null::weir.task_spec, '{}'));
begin
  if jsonb_typeof(_parse.tasks) is distinct from 'array' then
    perform weir._invalid('tasks', 'expected a JSON array of objects, got %s',
      jsonb_build_array(coalesce(jsonb_typeof(tasks), 'null')));
  end if;
  select case when jsonb_typeof(e) <> 'object' then weir._fault('tasks', 'expected objects, got %s', jsonb_typeof(e))
    else weir._fault(k, 'a task has no such field') end into bad
  from jsonb_array_elements(tasks) e
  left join lateral jsonb_object_keys(case when jsonb_typeof(e) = 'object' then e else '{}' end) k on true
  where jsonb_typeof(e) <> 'object' or not fields ? k
  limit 1;
  if bad is not null then
    perform weir._invalid(bad ->> 'field', bad ->> 'pattern', bad -> 'args',
      hint => 'the fields are those of type weir.task_spec');
  end if;
  begin
    specs := array(select r from jsonb_populate_recordset(null::weir.task_spec, tasks) r);
  exception when data_exception then
    perform weir._refuse_unreadable(tasks);
  end;
  select ordinality, e,
    case when e ->> 'field' = 'pool' then format('create it first: select weir.set_pool(%L, size => 10)', pool) end
  into place, bad, fix
  from unnest(specs) with ordinality s,
  lateral (select case
    when coalesce(service, '') = '' then weir._fault('service', 'say who does the work')
    when weir._bad_text('service', service) is not null then weir._bad_text('service', service)
    when priority not between -100 and 100 then weir._fault('priority', '%s is outside -100 .. 100', priority::text)
    when pg_column_size(params) > 16 * 1024 * 1024 then
      weir._fault('params', '%s bytes are over the limit of 16 MiB; put the data in a bucket and pass its key',
        pg_column_size(params)::text)
    when labels is not null
      and (jsonb_typeof(labels) <> 'object'
        or exists (select from jsonb_each(labels) v where jsonb_typeof(v.value) <> 'string'))
      then weir._fault('labels', 'expected an object with string values')
    when weir._bad_time('run_at', run_at) is not null then weir._bad_time('run_at', run_at)
    when hold = '' then weir._fault('hold', 'say who must release it or what it waits for')
    when lane = '' or length(lane) > 200 then weir._fault('lane', '1 to 200 characters')
    when lane is null and (rank is not null or exclusive) then weir._fault('lane', 'rank and exclusive need a lane')
    when pool is not null and not exists (select from weir.pools p where p.name = pool)
      then weir._fault('pool', 'there is no %s %L', 'pool', pool)
    when max_attempts not between 1 and 10000
      then weir._fault('max_attempts', '%s is outside 1 .. 10000', max_attempts::text)
    when weir._bad_span('timeout', timeout) is not null then weir._bad_span('timeout', timeout)
    when weir._bad_span('backoff', backoff, true) is not null then weir._bad_span('backoff', backoff, true)
    when weir._bad_span('backoff_cap', backoff_cap, true) is not null then
      weir._bad_span('backoff_cap', backoff_cap, true)
    when orphan not in ('requeue', 'stop') then weir._fault('orphan', 'requeue or stop')
    when idempotency_key = '' or length(idempotency_key) > 500
      then weir._fault('idempotency_key', '1 to 500 characters')
    when unique_key = '' or length(unique_key) > 500 then weir._fault('unique_key', '1 to 500 characters')
    when weir._bad_text('key', key) is not null then weir._bad_text('key', key)
    when weir._bad_text('hold', hold, 1000) is not null then weir._bad_text('hold', hold, 1000)
    when weir._bad_text('trace', trace, 1000) is not null then weir._bad_text('trace', trace, 1000)
    when jsonb_typeof(run) <> 'object' then weir._fault('run', 'expected an object')
    when pg_column_size(run) > 1024 * 1024
      then weir._fault('run', '%s bytes are over the limit of 1 MiB', pg_column_size(run)::text)
    when array_position(needs, null) is not null then weir._fault('needs', 'holds a null')
  end) x (e)
  where e is not null order by ordinality limit 1;
  if bad is not null then
    perform weir._invalid_task(place, bad, fix);
  end if;
  return specs;
end $$;
comment on function weir._parse is 'Typed rows from a JSON array of tasks, or WR422.';
