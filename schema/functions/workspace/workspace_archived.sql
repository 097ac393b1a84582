-- Notes an archive that was read back and found whole, for the operation that made it. From here on the home is the
-- archive, and the volume may go. mounted: the number on the volume that it was made of. False: nobody may rely on it,
-- for the volume was mounted since, or the operation is over.
create or replace function weir.workspace_archived(workspace uuid, op_id uuid, key text, meta jsonb, mounted bigint,
  at timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workspace_archived.at);
  w weir.workspaces;
begin
  select * into w from weir.workspaces x where x.id = workspace_archived.workspace for no key update;
  if not found or w.op_id is distinct from workspace_archived.op_id
    or w.operation not in ('ARCHIVING', 'CREATE_EMPTY_ARCHIVE') or w.mounted <> workspace_archived.mounted then
    return false;
  end if;
  if w.archive_key = workspace_archived.key then
    return w.archive_generation = w.volume_generation;
  end if;
  update weir.workspaces x
  set archive_key = workspace_archived.key, archive_meta = workspace_archived.meta,
    archive_generation = x.volume_generation, had_home = true,
    archive_of = case when w.operation = 'ARCHIVING' then workspace_archived.mounted end,
    op_progress_at = t, op_progress = 'the archive is verified'
  where x.id = w.id;
  insert into weir.workspace_archives as a (key, workspace, verified_at, meta)
  values (workspace_archived.key, w.id, t, workspace_archived.meta)
  on conflict (key) do update set verified_at = excluded.verified_at, meta = excluded.meta, orphan_since = null;
  insert into weir.events (at, type, kind, subject, message, data)
  values (t, 'archived', 'workspace', w.id, workspace_archived.key,
    jsonb_build_object('operation', w.operation, 'op_id', w.op_id, 'meta', workspace_archived.meta));
  return true;
end $$;
comment on function weir.workspace_archived is 'Notes a verified archive. Only then may the volume go.';
