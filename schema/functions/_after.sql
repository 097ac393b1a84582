-- What follows from tasks that ended or stepped aside: needs are counted down, jobs are closed, freed lanes and pools are opened.
create or replace function weir._after(ended uuid[], lanes text[], pools text[], t timestamptz) returns int
language plpgsql
set search_path = weir, pg_temp
as $$
begin
  if cardinality(ended) > 0 then
    select * into lanes, pools from weir._settle(ended, lanes, pools, t);
  end if;
  if cardinality(lanes) > 0 or cardinality(pools) > 0 then
    return weir._open(lanes, pools, t);
  end if;
  return 0;
end $$;
comment on function weir._after is 'Counts down needs, closes jobs, opens freed keys.';
