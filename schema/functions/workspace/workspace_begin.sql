-- Notes that an operation begins, before anything is done: intent before effect. A start and an archive take a number
-- each, so that of two of them everybody can tell the later one.
-- Null: something else is under way, or other things are wanted by now. Otherwise the id of the operation, which stays
-- the same on every try.
create or replace function weir.workspace_begin(workspace uuid, operation text, wanted bigint,
  at timestamptz default null)
returns uuid
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workspace_begin.at);
  made uuid := gen_random_uuid();
begin
  update weir.workspaces w
  set operation = workspace_begin.operation, op_id = made, op_started_at = t, op_progress_at = t, op_progress = null,
    op_retry_at = null, error_count = 0, error_reason = null, error_message = null, observed_generation = w.generation,
    volume_generation = w.volume_generation
      + case when workspace_begin.operation in ('STARTING', 'ARCHIVING') then 1 else 0 end,
    archive_op_id = case when workspace_begin.operation in ('ARCHIVING', 'CREATE_EMPTY_ARCHIVE') then made
      else w.archive_op_id end
  where w.id = workspace_begin.workspace and w.operation = 'NONE' and w.generation = wanted;
  if not found then
    return null;
  end if;
  insert into weir.events (at, type, kind, subject, message, data)
  values (t, 'began', 'workspace', workspace_begin.workspace, workspace_begin.operation,
    jsonb_build_object('operation', workspace_begin.operation, 'op_id', made));
  return made;
end $$;
comment on function weir.workspace_begin is 'Notes that an operation begins, before it does.';
