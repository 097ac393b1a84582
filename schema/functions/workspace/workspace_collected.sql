-- Notes that archives have gone from the bucket. Returns how many were known.
create or replace function weir.workspace_collected(keys text[], at timestamptz default null) returns int
language sql security definer
set search_path = weir, pg_temp
as $$
  with now as materialized (select weir._clock(workspace_collected.at) as t),
    gone as (delete from weir.workspace_archives a where a.key = any (keys)
      returning a.key, a.workspace, a.orphan_since),
    told as (insert into weir.events (at, type, kind, subject, message, data)
      select n.t, 'collected', 'workspace', g.workspace, g.key, jsonb_build_object('orphan_since', g.orphan_since)
      from gone g, now n)
  select count(*)::int from gone
$$;
comment on function weir.workspace_collected is 'Notes that archives have gone.';
