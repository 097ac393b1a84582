-- Gives the lead back at once, so that another need not wait for the term to end.
create or replace function weir.resign(lock_name text, holder text, epoch bigint) returns void
language sql security definer
set search_path = weir, pg_temp
as $$
  update weir.system_locks l set expires_at = '-infinity', seen_at = clock_timestamp()
  where l.lock_name = resign.lock_name and l.holder_id = resign.holder and l.epoch = resign.epoch
$$;
comment on function weir.resign is 'Ends a term early.';
