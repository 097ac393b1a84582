-- Which archives may go. listed: what a whole listing of the bucket has shown, each with key, workspace, op (the
-- operation that made it), whole (its meta is there) and at (when it was stored). Safe are the archive of every
-- workspace that is not gone, what its last archiving wrote, and its newest archives, as many as keep. What is not safe
-- is noted, and may go when it has been so for a while (after): then nobody can come back to it any more, from here on.
-- What no row knows is not ours, and is left alone. Returns the keys.
create or replace function weir.workspace_orphans(listed jsonb, keep int default 3, after interval default '2 h',
  at timestamptz default null)
returns text[]
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workspace_orphans.at);
  gone text[];
begin
  with seen as materialized (
    select f.key, f.workspace, w.phase <> 'DELETED' and (
      f.key is not distinct from w.archive_key or f.op is not distinct from w.archive_op_id
        or f.op is not distinct from w.op_id
      or f.whole and row_number() over (partition by f.workspace, f.whole order by f.at desc, f.key) <= keep) as safe
    from jsonb_to_recordset(listed) as f (key text, workspace uuid, op uuid, whole boolean, at timestamptz)
    join weir.workspaces w on w.id = f.workspace
  ), freed as (
    update weir.workspace_archives a set orphan_since = null from seen s
    where s.key = a.key and s.safe and a.orphan_since is not null
  ), noted as (
    insert into weir.workspace_archives as a (key, workspace, orphan_since) select s.key, s.workspace, t from seen s
    where not s.safe
      and not exists (select from weir.workspace_archives o where o.key = s.key and o.orphan_since is not null)
    on conflict (key) do update set orphan_since = excluded.orphan_since where a.orphan_since is null
  ), forgotten as (
    -- It has gone from the bucket by another hand, and nobody needs it.
    delete from weir.workspace_archives a using weir.workspaces w
    where w.id = a.workspace and a.key is distinct from w.archive_key
      and coalesce(a.verified_at, a.orphan_since) < t - after and not exists (select from seen s where s.key = a.key)
  ), condemned as (
    -- Whoever recovers from it at this moment was first, and it is no orphan, or comes too late.
    update weir.workspace_archives a set verified_at = null from seen s
    where s.key = a.key and not s.safe and a.orphan_since < t - after returning a.key
  )
  select coalesce(array_agg(c.key order by c.key), '{}') into gone from condemned c;
  return gone;
end $$;
comment on function weir.workspace_orphans is 'Which archives nobody has needed for a while.';
