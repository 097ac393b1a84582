-- A new leader goes on with what is under way. While nobody led, nothing could get on: time begins to run again.
-- Returns how many.
create or replace function weir.workspace_resume(at timestamptz default null) returns int
language sql security definer
set search_path = weir, pg_temp
as $$
  with now as materialized (select weir._clock(workspace_resume.at) as t),
    held as (select w.id from weir.workspaces w where w.operation <> 'NONE' order by w.id for no key update),
    moved as (update weir.workspaces w set op_progress_at = n.t from now n, held h where w.id = h.id returning 1)
  select count(*)::int from moved
$$;
comment on function weir.workspace_resume is 'A new leader goes on with what is under way.';
