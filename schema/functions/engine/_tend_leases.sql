-- The part of weir.tend for leases that ran out: ends them and settles their jobs. What is otherwise decided at commit
-- (deferred triggers) is decided here, so that its errors are here, too. just: this task alone.
create or replace function weir._tend_leases(n int, t timestamptz, just uuid default null, out total int,
  out lanes text[], out pools text[])
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  late record;
begin
  select * into late from weir._expire(n, t, just);
  total := late.total;
  if total > 0 then
    select * into lanes, pools from weir._settle(late.ended, late.lanes, late.pools, t);
    perform weir._run_deferred();
  end if;
end $$;
comment on function weir._tend_leases is 'Ends leases that ran out: how many, and which keys they freed.';
