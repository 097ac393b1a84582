-- The part of weir.tend for lanes and pools: these, and those that others left to it as far as their lock is free.
-- After an error each key by itself and each task by itself (weir._make_available); a key that still cannot be opened
-- is left with its error.
create or replace function weir._tend_gates(lanes text[], pools text[], t timestamptz) returns int
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  opened int := 0;
  was tid[];
  k record;
begin
  select array_agg(l.row), lanes || array_agg(l.key) filter (where l.lane),
    pools || array_agg(l.key) filter (where not l.lane)
  into was, lanes, pools
  from (select x.ctid as row, x.lane, x.key from weir.left_keys x limit 5000) l;
  if coalesce(cardinality(lanes), 0) + coalesce(cardinality(pools), 0) = 0 then
    return 0;
  end if;
  lanes := weir._lock_keys(lanes, true, false, t);
  pools := weir._lock_keys(pools, false, false, t);
  -- Who is busy stays, with the time since when; the others are in hand, or noted as busy now.
  delete from weir.left_keys l
  where l.ctid = any (was) and (not l.busy or l.key = any (case when l.lane then lanes else pools end));
  begin
    return weir._open(lanes, pools, t, patient => false, locked => true);
  exception when others then
    perform set_config('weir.singly', 'on', true);
  end;
  for k in select true as lane, l as key from unnest(lanes) l
    union select false, p from unnest(pools) p order by 1 desc, 2 loop
    begin
      opened := opened
        + weir._open(case when k.lane then array[k.key] end, case when not k.lane then array[k.key] end, t,
          patient => false);
    exception when others then
      perform weir._defer_keys(k.lane, array[k.key], t, busy => true, error => sqlerrm);
    end;
  end loop;
  perform set_config('weir.singly', 'off', true);
  return opened;
end $$;
comment on function weir._tend_gates is 'Opens keys, whatever one of them does.';
