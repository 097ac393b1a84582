-- Trigger: a run of a workflow has ended. Each trigger that follows the workflow gets a firing, at most one for the
-- run: pending, or ignored with the reason. A run that is a step of another run fires nothing, because the run that it
-- is part of does. It is called at commit, so a run that lives again by then has not ended. A run that ends a second
-- time, after a retry, fires only the triggers that it has started nothing by.
create or replace function weir._run_ended() returns trigger
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  e weir.job_finished;
  fires boolean;
begin
  if not exists (select from weir.triggers g where g.after is not null) then
    return null;
  end if;
  select f.* into e from weir.job_finished f where f.job = old.job;
  if not found or exists (select from weir.jobs j where j.id = old.job and j.parent is not null) then
    return null;
  end if;
  with made as (
    insert into weir.firings as f (trigger, key, at, source, state, reason)
    select g.name, old.job::text, e.at, old.job, case when r.reason is null then 'pending' else 'ignored' end, r.reason
    from weir.workflows w
    join weir.triggers g on g.after = w.name,
      lateral (select case when g.paused then jsonb_build_object('code', 'trigger_paused')
        when g.outcome not in ('always', e.outcome::text) then
          jsonb_build_object('code', 'trigger_outcome', 'outcome', e.outcome, 'wanted', g.outcome) end as reason) r
    where w.id = old.definition
    order by g.name
    on conflict (trigger, key) do update set at = excluded.at, state = excluded.state, reason = excluded.reason
    where f.state in ('ignored', 'failed')
    returning f.state
  )
  select bool_or(m.state = 'pending') into fires from made m;
  if fires then
    perform pg_notify('weir_plan', '');
  end if;
  return null;
end $$;
comment on function weir._run_ended is 'Trigger: what follows a run of a workflow that ended.';
