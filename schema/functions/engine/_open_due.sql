-- Lets tasks go on whose time has come, as far as lanes and pools. Rows that somebody else holds are his; a second
-- caller takes the next ones. just: this task alone. What is set aside is left alone.
create or replace function weir._open_due(n int, t timestamptz, just uuid default null, out total int, out lanes text[],
  out pools text[], out opened int)
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = on
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  due uuid[];
begin
  if just is null then
    due := array(select p.task from weir.pending p where p.gate = 'time' and p.run_at <= t
      and (select true from weir.set_aside s where s.task = p.task and s.next_at > t) is null order by p.run_at limit n
      for update skip locked);
  else
    due := array(select p.task from weir.pending p where p.task = just and p.gate = 'time' and p.run_at <= t
      for update skip locked);
  end if;
  total := cardinality(due);
  if total > 0 then
    select * into lanes, pools, opened from weir._advance(due, t);
  end if;
end $$;
comment on function weir._open_due is
  'Opens time gates that are due: how many, the keys they now stand at, and how many became available.';
