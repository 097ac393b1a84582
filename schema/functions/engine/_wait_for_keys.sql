-- Waits for the locks of lanes or pools (weir._lock_keys), but not for long: who has one may be a person in an open
-- transaction. Returns whether it got them all; whole: with their buckets.
create or replace function weir._wait_for_keys(keys text[], lane boolean, whole boolean, wait text) returns boolean
language plpgsql
set search_path = weir, pg_temp
set lock_timeout = '300ms'
as $$
declare
  k record;
begin
  perform set_config('lock_timeout', wait, true);
  for k in select distinct x as key, weir._key_bucket(lane, x) as bucket from unnest(keys) x order by 2, 1 loop
    if whole then
      perform pg_advisory_xact_lock(87, k.bucket);
    else
      perform pg_advisory_xact_lock_shared(87, k.bucket);
      perform pg_advisory_xact_lock(case when lane then 94 else 95 end, hashtext(k.key));
    end if;
  end loop;
  return true;
exception when lock_not_available then
  return false;
end $$;
comment on function weir._wait_for_keys is 'Takes the locks of keys, or gives up.';
