-- Tells the planner that tasks ended for which jobs may still run: their children.
create or replace function weir._notify_children(tasks uuid[]) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
begin
  if exists (select from weir.job_live l where l.parent = any (tasks)) then
    perform pg_notify('weir_plan', '');
  end if;
end $$;
comment on function weir._notify_children is 'NOTIFY for jobs whose parent ended.';
