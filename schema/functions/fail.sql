-- One attempt. Returns ok, or why it was not accepted: repeated, lease_lost, unknown.
create or replace function weir.fail(task uuid, attempt int, token uuid, error text, final boolean default false, retry_at timestamptz default null,
  at timestamptz default null) returns text
language sql security definer
set search_path = weir, pg_temp
as $$
  select coalesce((select refusal from weir.fail_many(array[task], array[attempt], array[token], array[error], array[final], array[retry_at], at)), 'ok')
$$;
comment on function weir.fail is 'Ends a leased attempt as failed: ok, repeated, lease_lost or unknown.';
