-- Adds the absence of the servers to what is judged next. A lease that held when the last leader was there (since)
-- could not be renewed through a server while there was none, so it holds for another 30 s from now. An absence that
-- is shorter than that is no reason. Returns how many leases were extended. A lease that another transaction holds is
-- left out.
create or replace function weir._add_absence(since timestamptz, t timestamptz) returns int
language plpgsql
set search_path = weir, pg_temp
as $$
declare
  n int;
begin
  if since is null or t < since + interval '30 s' then
    return 0;
  end if;
  update weir.running r set until = t + interval '30 s'
  where r.ctid = any (array(
    select x.ctid from weir.running x where x.node is not null and x.until >= since and x.until < t + interval '30 s'
    for update skip locked));
  get diagnostics n = row_count;
  return n;
end $$;
comment on function weir._add_absence is 'Extends the leases of nodes that ran out while no server was there.';
