-- Creates or changes a pool: at most size tasks at once, at most rate per interval, or both. Growing it opens what now
-- has room; shrinking it lets what runs run and opens nothing until there is room. With seen, the resized_at that the
-- caller has read, it is refused if somebody else changed the pool meanwhile. A rate counts the starts since the pool
-- has one; what was opened before a change may still start.
create or replace function weir.set_pool(name text, size int default null, rate int default null,
  per interval default null, note text default null, by text default null, seen timestamptz default null,
  at timestamptz default null)
returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(set_pool.at);
begin
  if coalesce(set_pool.name, '') = '' or length(set_pool.name) > 200 then
    perform weir._invalid('name', '1 to 200 characters');
  end if;
  if set_pool.size is null and set_pool.rate is null then
    perform weir._invalid('size', 'give a pool a size, a rate or both');
  end if;
  if set_pool.size < 0 then
    perform weir._invalid('size', '%s is negative', jsonb_build_array(set_pool.size), hint => '0 stops the pool');
  end if;
  if (set_pool.rate is null) <> (set_pool.per is null) or set_pool.rate < 1 or set_pool.per <= interval '0' then
    perform weir._invalid('rate', 'give a positive rate together with a positive interval',
      hint => 'for example rate => 10, per => ''1 min''');
  end if;
  perform weir._check(weir._bad_span('per', set_pool.per));
  -- The lock before the row, as weir._open_pools takes them.
  perform weir._hold_keys(array[set_pool.name], false);
  perform weir._refuse_stale_edit('pool', set_pool.name, set_pool.seen,
    (select p.resized_at from weir.pools p where p.name = set_pool.name));
  insert into weir.pools as p (name, size, rate, per, resized_at, note)
  values (set_pool.name, set_pool.size, set_pool.rate, set_pool.per, t, set_pool.note)
  on conflict (name) do update set size = excluded.size, rate = excluded.rate, per = excluded.per,
    note = coalesce(excluded.note, p.note), resized_at = t
  where (p.size, p.rate, p.per) is distinct from (excluded.size, excluded.rate, excluded.per)
    or excluded.note is distinct from p.note;
  if found then
    insert into weir.events (at, type, kind, subject, source, data)
    values (t, 'set', 'pool', set_pool.name, set_pool.by,
      jsonb_strip_nulls(jsonb_build_object('size', set_pool.size, 'rate', set_pool.rate, 'per', set_pool.per)));
    if weir._open(null, array[set_pool.name], t) > 0 then
      perform pg_notify('weir_available', '');
    end if;
  end if;
end $$;
comment on function weir.set_pool is 'Creates or changes a pool.';
