-- The part of weir.tend for lanes and pools: these, and those that others left to it as far as their lock is free. After an error each key by itself and each task by
-- itself (weir._make_available); a key that still cannot be opened is left with its error.
create or replace function weir._tend_gates(lanes text[], pools text[], t timestamptz) returns int
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  opened int := 0;
  k record;
begin
  if exists (select from weir.left_keys) then
    with d as (
      delete from weir.left_keys l where l.ctid = any (array(select x.ctid from weir.left_keys x limit 5000))
        and pg_try_advisory_xact_lock(87, case when l.lane then 0 else 32 end + (hashtext(l.key) & 31)) returning l.lane, l.key
    )
    select lanes || array_agg(d.key) filter (where d.lane), pools || array_agg(d.key) filter (where not d.lane) into lanes, pools from d;
  end if;
  if coalesce(cardinality(lanes), 0) + coalesce(cardinality(pools), 0) = 0 then
    return 0;
  end if;
  begin
    return weir._open(lanes, pools, t, patient => false);
  exception when others then
    perform set_config('weir.singly', 'on', true);
  end;
  for k in select true as lane, l as key from unnest(lanes) l union select false, p from unnest(pools) p order by 1 desc, 2 loop
    begin
      opened := opened + weir._open(case when k.lane then array[k.key] end, case when not k.lane then array[k.key] end, t, patient => false);
    exception when others then
      perform weir._leave_keys(k.lane, array[k.key], t, busy => true, error => sqlerrm);
    end;
  end loop;
  perform set_config('weir.singly', 'off', true);
  return opened;
end $$;
comment on function weir._tend_gates is 'Opens keys, whatever one of them does.';
