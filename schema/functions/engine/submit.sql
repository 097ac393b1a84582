-- One task, with named arguments: select weir.submit('email', '{"to": "a@example.org"}', priority => 10).
create or replace function weir.submit(
  service text, params jsonb default '{}', priority int default 0, run_at timestamptz default null,
  hold text default null, lane text default null, rank bigint default null, exclusive boolean default null,
  pool text default null, labels jsonb default null, max_attempts int default null, timeout interval default null,
  backoff interval default null, backoff_cap interval default null, orphan text default null,
  idempotency_key text default null, unique_key text default null, trace text default null,
  hint boolean default true, at timestamptz default null)
returns uuid
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_variable
begin
  return (select x.task from weir.submit_many(jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
    'service', service, 'priority', priority, 'run_at', run_at, 'hold', hold, 'lane', lane, 'rank', rank,
    'exclusive', exclusive, 'pool', pool, 'labels', labels, 'max_attempts', max_attempts, 'timeout', timeout,
    'backoff', backoff, 'backoff_cap', backoff_cap, 'orphan', orphan, 'idempotency_key', idempotency_key,
    'unique_key', unique_key, 'trace', trace)) || jsonb_build_object('params', params)), hint, at) x);
end $$;
comment on function weir.submit is 'Submits one task and returns its id.';
