-- Lets a version of a workflow be run, or not. Jobs and schedules that name no version take the newest active one; jobs
-- that exist go on.
create or replace function weir.set_workflow(name text, version int, active boolean, by text default null,
  at timestamptz default null)
returns void
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(set_workflow.at);
begin
  update weir.workflows w set active = set_workflow.active, updated_at = t
  where w.name = set_workflow.name and w.version = set_workflow.version and w.deleted_at is null
    and w.active <> set_workflow.active;
  if found then
    insert into weir.events (at, type, kind, subject, source, message)
    values (t, case when set_workflow.active then 'activated' else 'deactivated' end, 'workflow', set_workflow.name,
      set_workflow.by, 'version ' || set_workflow.version);
  elsif not exists (select from weir.workflows w
    where w.name = set_workflow.name and w.version = set_workflow.version and w.deleted_at is null) then
    perform weir._not_found('workflow', format('%s version %s', set_workflow.name, set_workflow.version));
  end if;
end $$;
comment on function weir.set_workflow is 'Activates or deactivates a version of a workflow.';
