-- Notes that an operation gets on: its time runs out from here. False: it is over.
create or replace function weir.workspace_progress(workspace uuid, op_id uuid, says text, at timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  update weir.workspaces w set op_progress_at = weir._clock(workspace_progress.at), op_progress = weir._text(says)
  where w.id = workspace_progress.workspace and w.op_id = workspace_progress.op_id;
  return found;
end $$;
comment on function weir.workspace_progress is 'Notes that an operation gets on.';
