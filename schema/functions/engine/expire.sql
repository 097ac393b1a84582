-- Ends leases that ran out, and opens what they held. Part of weir.tend; alone it is for tests and tools.
create or replace function weir.expire(n int default 500, at timestamptz default null) returns int
language plpgsql security definer
set search_path = weir, pg_temp
as $$
declare
  t timestamptz := weir._clock(at);
  x record;
begin
  perform weir._check(weir._bad_count('n', n));
  select * into x from weir._expire(n, t);
  perform weir._after_end(x.ended, x.lanes, x.pools, t);
  if x.total > 0 then
    perform pg_notify('weir_available', '');
  end if;
  return x.total;
end $$;
comment on function weir.expire is 'Ends leases that ran out. Returns how many.';
