-- The plan's line of weir.why: not yet, with the job that it waits for, or planned.
create or replace function weir._why_plan(q weir.tasks, p weir.pending)
returns table (gate text, open boolean, reason jsonb, blocker uuid, since timestamptz)
language plpgsql stable
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  child record;
begin
  select j.id, j.name, j.state, j.done + j.failed + j.canceled + j.skipped as ended, j.total into child
  from weir.job_live l, lateral (select * from weir.job j where j.id = l.job offset 0) j where l.parent = q.id
    order by l.job desc limit 1;
  return query select 'plan', p.plan is not true, case
    when p.plan is not true then jsonb_build_object('code', 'planned')
    when child.id is not null then jsonb_build_object('code', 'plan_job', 'job', child.name, 'id', child.id,
      'state', child.state,
      'progress', case when child.total > 0 then jsonb_build_object('code', 'progress', 'ended', child.ended, 'total',
        child.total) end)
    when p.gate = 'plan' then jsonb_build_object('code', 'plan_due')
    when q.awaits is not null then jsonb_build_object('code', 'plan_parts')
    else jsonb_build_object('code', 'plan_needs') end, null::uuid, case when p.gate = 'plan' then p.since end;
end $$;
comment on function weir._why_plan is 'Why a task waits at the gate plan.';
