-- One attempt; reason as in weir.fail_many. Returns ok, or why it was not accepted: repeated, lease_lost, unknown.
create or replace function weir.fail(task uuid, attempt int, token uuid, error text, final boolean default false,
  retry_at timestamptz default null, hint boolean default true, reason text default null, at timestamptz default null)
returns text
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  return coalesce((select x.refusal from weir.fail_many(array[fail.task], array[fail.attempt], array[fail.token],
    array[fail.error], array[fail.final], array[fail.retry_at], fail.hint,
    case when fail.reason is not null then array[fail.reason] end, fail.at) x), 'ok');
end $$;
comment on function weir.fail is 'Ends a leased attempt as failed: ok, repeated, lease_lost or unknown.';
