-- What follows from tasks that ended or stepped aside: needs are counted down, jobs are closed, freed lanes and pools
-- are opened. hint: workers are told at commit that there may be something for them; without it the caller tells them.
create or replace function weir._after_end(ended uuid[], lanes text[], pools text[], t timestamptz,
  hint boolean default true)
returns int
language plpgsql
set search_path = weir, pg_temp
as $$
declare
  opened int := 0;
begin
  if cardinality(ended) > 0 then
    select * into lanes, pools from weir._settle(ended, lanes, pools, t);
  end if;
  if cardinality(lanes) > 0 or cardinality(pools) > 0 then
    opened := weir._try_open(lanes, pools, t);
  end if;
  if hint and (opened > 0 or cardinality(ended) > 0) then
    perform pg_notify('weir_available', '');
  end if;
  return opened;
end $$;
comment on function weir._after_end is 'Counts down needs, closes jobs, opens freed keys.';
