-- Waits for the lock of a bucket of keys, but not for long: who has it may be a person in an open transaction.
create or replace function weir._wait_for_key(bucket int) returns boolean
language plpgsql
set lock_timeout = '300ms'
as $$
begin
  perform pg_advisory_xact_lock(87, bucket);
  return true;
exception when lock_not_available then
  return false;
end $$;
comment on function weir._wait_for_key is 'Takes the lock of a bucket, or gives up after 300 ms.';
