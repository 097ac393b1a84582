-- Takes the locks of lanes or pools until commit and returns the keys whose lock it got. A lock that somebody else has
-- is waited for (patient) a moment or not at all; its key is left to the next pass of weir.tend, so that an open
-- transaction of one caller stops nobody else.
-- A key has a lock of its own (94 for lanes, 95 for pools, and its hash) beside a share in that of its bucket (87: 32
-- for lanes, then 32 for pools). A transaction that wants more than 64 keys takes whole buckets instead, as far as they
-- are free: Postgres has no room for thousands of locks (docs/decisions/0002).
create or replace function weir._lock_keys(keys text[], lane boolean, patient boolean, t timestamptz) returns text[]
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  few constant int := 64;
  -- the keys that this transaction has by themselves
  own int := coalesce(nullif(current_setting('weir.keys', true), '')::int, 0);
  many boolean := own + cardinality(keys) > few;
  whole boolean := false;
  at int;
  k record;
  got text[] := '{}';
  missed text[];
begin
  for k in select x.key, weir._key_bucket(lane, x.key) as bucket from (select distinct unnest(keys)) x (key)
    order by 2, 1 loop
    if many and k.bucket is distinct from at then
      at := k.bucket;
      whole := pg_try_advisory_xact_lock(87, at);
    end if;
    if whole then
      got := got || k.key;
    elsif own < 2 * few
      and (pg_try_advisory_xact_lock_shared(87, k.bucket)
        and pg_try_advisory_xact_lock(case when lane then 94 else 95 end, hashtext(k.key))
        or patient and weir._wait_for_keys(array[k.key], lane, false, '300ms')) then
      own := own + 1;
      got := got || k.key;
    else
      missed := missed || k.key;
      patient := false; -- one wait is enough for all of them
    end if;
  end loop;
  perform set_config('weir.keys', own::text, true);
  if missed is not null then
    perform weir._defer_keys(_lock_keys.lane, missed, t, busy => true);
  end if;
  return got;
end $$;
comment on function weir._lock_keys is 'Locks keys and returns those that are locked.';
