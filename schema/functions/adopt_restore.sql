-- Transaction ids begin anew in a cluster that was loaded from a dump. What was written under the old ones is over and past: it is moved before
-- everything to come, so that readers of the timeline and floors do not wait for numbers this cluster has not reached. Elsewhere it does nothing.
create or replace function weir.adopt_restore() returns bigint
language plpgsql security definer
set search_path = weir, pg_temp
as $$
declare
  now_xid bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
  moved bigint := 0;
begin
  if exists (select from weir.events e where e.xid >= now_xid) then
    update weir.events set xid = 0 where xid >= now_xid;
    get diagnostics moved = row_count;
  end if;
  update weir.horizon set xid = 0 where xid >= now_xid;
  -- What was not added up yet is left out.
  update weir.tallied set xid = now_xid - 1, seq = 9223372036854775807 where xid >= now_xid;
  return moved;
end $$;
comment on function weir.adopt_restore is 'Makes a database that was loaded from a dump go on. Returns how many events it moved.';
