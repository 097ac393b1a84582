-- Forgets starts that no longer count, and puts many together: those of a 64th of the interval count as if all were the
-- last of them, so a rate errs on the safe side. The caller holds the locks of the pools.
create or replace function weir._tidy_starts(pools text[], t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  p record;
begin
  for p in select x.name, x.per from weir.pools x where x.name = any (pools) loop
    delete from weir.starts s where s.pool = p.name and s.at <= t - p.per;
    if (select count(*) from weir.starts s where s.pool = p.name) > 256 then
      with d as (
        delete from weir.starts s where s.pool = p.name returning s.at, s.n
      )
      insert into weir.starts (pool, at, n)
      select p.name, max(d.at), sum(d.n) from d
      group by floor(extract(epoch from d.at) * 64 / extract(epoch from p.per));
    end if;
  end loop;
end $$;
comment on function weir._tidy_starts is 'Keeps the starts of pools few.';
