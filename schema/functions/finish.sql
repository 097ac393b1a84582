-- One task. Returns ok, or why it was not accepted: repeated, lease_lost, unknown.
create or replace function weir.finish(task uuid, attempt int, token uuid, result jsonb default null, at timestamptz default null) returns text
language sql security definer
set search_path = weir, pg_temp
as $$
  select coalesce((select refusal from weir.finish_many(array[task], array[attempt], array[token], array[result], at)), 'ok')
$$;
comment on function weir.finish is 'Ends a leased task as done: ok, repeated, lease_lost or unknown.';
