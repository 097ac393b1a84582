-- The id by which readers find an event: that of its transaction, or of the newest one that has ended by now if that is
-- higher. So what is written after the end of another transaction comes behind it, whoever had an id first
-- (docs/decisions/0020). Volatile, so that it looks now and not when the statement began: that may have waited.
create or replace function weir._event_xid() returns bigint
language plpgsql volatile
as $$
begin
  return greatest(pg_current_xact_id()::text::bigint, pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1);
end $$;
comment on function weir._event_xid is 'The place of an event in the timeline.';
