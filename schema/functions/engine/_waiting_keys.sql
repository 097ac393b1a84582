-- The lanes and pools that have tasks waiting and may have room. Found by walking the index from key to key, never row
-- by row.
create or replace function weir._waiting_keys(out lanes text[], out pools text[])
language plpgsql stable
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
begin
  lanes := array(
    with recursive k as (
      (select p.lane from weir.pending p where p.gate = 'lane' order by p.lane limit 1)
      union all
      select (select p.lane from weir.pending p where p.gate = 'lane' and p.lane > k.lane order by p.lane limit 1)
      from k where k.lane is not null
    )
    select k.lane from k where k.lane is not null
      -- An exclusive holder has its lane alone: one holder of each kind tells.
      and (select r.exclusive from weir.running r where r.lane = k.lane limit 1) is not true
      and (select a.exclusive from weir.available a where a.lane = k.lane limit 1) is not true);
  pools := array(
    with recursive k as (
      (select p.pool from weir.pending p where p.gate = 'pool' order by p.pool limit 1)
      union all
      select (select p.pool from weir.pending p where p.gate = 'pool' and p.pool > k.pool order by p.pool limit 1)
      from k where k.pool is not null
    )
    select k.pool from k where k.pool is not null);
end $$;
comment on function weir._waiting_keys is 'Keys with tasks waiting at them.';
