-- Takes the locks of lanes or pools until commit and returns the keys whose lock it got. A lock that somebody else has is waited for (patient) a moment or not at
-- all; its keys are left to the next pass of weir.tend, so that an open transaction of one caller stops nobody else.
-- The locks are 32 buckets for lanes, then 32 for pools, always taken upwards: no ring of waiters, and no more locks than Postgres has room for.
create or replace function weir._lock_keys(keys text[], lane boolean, patient boolean, t timestamptz) returns text[]
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  base constant int := case when lane then 0 else 32 end;
  bucket int;
  missed int[];
begin
  for bucket in select distinct base + (hashtext(k) & 31) from unnest(keys) k order by 1 loop
    if not pg_try_advisory_xact_lock(87, bucket) and not (patient and weir._wait_for_key(bucket)) then
      missed := missed || bucket;
    end if;
  end loop;
  if missed is null then
    return keys;
  end if;
  perform weir._leave_keys(_lock_keys.lane, array(select k from unnest(keys) k where base + (hashtext(k) & 31) = any (missed)), t, busy => true);
  return array(select k from unnest(keys) k where base + (hashtext(k) & 31) <> all (missed));
end $$;
comment on function weir._lock_keys is 'Locks keys and returns those that are locked.';
