-- weir._open for those who end tasks: the end counts, whatever stands behind it at a gate. A key that cannot be opened
-- is left to weir.tend, which finds the task that is to blame.
create or replace function weir._try_open(lanes text[], pools text[], t timestamptz) returns int
language plpgsql
set search_path = weir, pg_temp
as $$
begin
  return weir._open(lanes, pools, t);
exception when others then
  perform weir._defer_keys(true, lanes, t, busy => true, error => sqlerrm);
  perform weir._defer_keys(false, pools, t, busy => true, error => sqlerrm);
  return 0;
end $$;
comment on function weir._try_open is 'Opens keys; an error stops nobody but them.';
