-- The needs' line of weir.why. A few are named: a task may need thousands.
create or replace function weir._why_needs(q weir.tasks, p weir.pending)
returns table (gate text, open boolean, reason jsonb, blocker uuid, since timestamptz)
language plpgsql stable
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  b record;
begin
  select (select count(*) from weir.edges e where e.task = q.id) as n, min(f.id::text)::uuid as id,
    jsonb_agg(jsonb_build_object('code', 'task_state', 'task', coalesce(f.key, f.id::text),
      'state', weir._state_of(f.id)) order by f.position) as tasks
  into b from (
    select x.id, x.key, x.position from weir.edges e join weir.tasks x on x.id = e.need where e.task = q.id
      order by x.position limit 10) f;
  return query select 'needs', b.n = 0, case when b.n = 0 then
    jsonb_build_object('code', 'needs_ended', 'needs', cardinality(q.needs))
    else jsonb_build_object('code', 'needs_running', 'left', b.n, 'needs', cardinality(q.needs), 'tasks', b.tasks,
      'more', case when b.n > 10 then b.n - 10 end,
      'settling', case when exists (select from weir.unsettled u where u.job = q.job) then
        '{"code": "settling"}'::jsonb end) end,
    b.id, case when b.n > 0 then p.since end;
end $$;
comment on function weir._why_needs is 'Why a task waits for others.';
