-- The cursor of now: what weir.events_after gives from here on has not happened yet, or was under way.
create or replace function weir.events_tail() returns text
language sql stable security definer
set search_path = weir, pg_temp
as $$ select (pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1) || '.9223372036854775807' $$;
comment on function weir.events_tail is 'The cursor of the end of the timeline.';
