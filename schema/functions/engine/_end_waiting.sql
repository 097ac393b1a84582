-- Ends those of these tasks that nobody works on as canceled or skipped, all at once, so that none of them skips
-- another. What depends on a skipped one goes on.
-- The caller holds their job.
create or replace function weir._end_waiting(tasks uuid[], outcome weir.state, note text, t timestamptz) returns int
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  gone uuid[] := '{}';
  ended weir.finished[] := '{}';
  lanes text[] := '{}';
  pools text[] := '{}';
  id uuid;
  was record;
begin
  foreach id in array array(select x from unnest(tasks) x order by 1) loop
    select * into was from weir._remove_waiting(id);
    continue when was.was is null;
    gone := gone || id;
    ended := ended || weir._finished_row(id, t, (was.p).attempt, _end_waiting.outcome, note,
      passes => case when _end_waiting.outcome = 'skipped' then true end,
      opened_at => case when was.was = 'available' then (was.p).since end);
    lanes := lanes || array_remove(array[(was.p).lane], null);
    pools := pools || array_remove(array[(was.p).pool], null);
  end loop;
  if cardinality(gone) > 0 then
    delete from weir.edges e where e.task = any (gone);
    perform weir._close(ended);
    perform weir._after_end(gone, lanes, pools, t);
  end if;
  return cardinality(gone);
end $$;
comment on function weir._end_waiting is 'pending or available → canceled or skipped for many tasks.';
