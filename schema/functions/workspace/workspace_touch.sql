-- Notes when workspaces were last used, and by what. A time never goes back, so that buffers may tell it late and
-- twice. Returns how many moved.
create or replace function weir.workspace_touch(workspaces uuid[], ats timestamptz[], sources text[]) returns int
language sql security definer
set search_path = weir, pg_temp
as $$
  with used as (
    select distinct on (u.id) u.id, u.at, u.source from unnest(workspaces, ats, sources) as u (id, at, source)
    order by u.id, u.at desc
  ), mine as (
    select w.id, u.at, u.source from weir.workspaces w join used u on u.id = w.id
    where w.last_access_at < u.at and w.deleted_at is null order by w.id for no key update of w
  ), moved as (
    update weir.workspaces w set last_access_at = m.at, last_activity = m.source from mine m where w.id = m.id
    returning 1
  )
  select count(*)::int from moved
$$;
comment on function weir.workspace_touch is 'Notes when workspaces were last used.';
