-- The rows of weir.why_job, with reasons as objects: code and arguments.
create or replace function weir._why_job(of_job uuid, t timestamptz)
returns table (gate text, open boolean, reason jsonb, blocker uuid, since timestamptz)
language plpgsql stable
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  j weir.jobs;
  l weir.job_live;
begin
  select * into j from weir.jobs x where x.id = of_job;
  if not found then
    perform weir._not_found('job', of_job::text);
  end if;
  select * into l from weir.job_live x where x.job = j.id;
  if not found then
    return query select 'ended', true, jsonb_build_object('code', 'job_ended', 'outcome', f.outcome, 'cause', f.cause),
      null::uuid, f.at
    from weir.job_finished f where f.job = j.id;
    return query select * from weir._why_of('ended', j.kind, j.id, t);
    return;
  end if;
  if l.due is not null and l.fleet then
    return query select * from weir._why_of('job', j.kind, j.id, t);
    return;
  end if;
  if l.due is not null then
    return query select 'time', l.due <= t, case when l.due <= t then jsonb_build_object('code', 'time_come')
      else jsonb_build_object('code', 'job_due', 'at', weir._instant(l.due), 'in', weir._seconds(l.due - t)) end,
      null::uuid, case when l.due > t then j.created_at end;
    return query select 'build', false, case when l.note is not null then
      jsonb_build_object('code', 'job_note', 'note', l.note)
      else jsonb_build_object('code', case when l.due <= t then 'build_due' else 'build_later' end) end,
      null::uuid, greatest(l.due, j.created_at);
    return query select * from weir._why_of('job', j.kind, j.id, t);
    return;
  end if;
  return query select g.gate, s.place = 'running' or coalesce(w.open, true),
    jsonb_build_object('code', 'tasks', 'n', s.n, 'task', s.name, 'why', w.reason),
    coalesce(w.blocker, case when s.place <> 'running' then s.task end), s.since
  from weir._job_places(j.id) s,
    lateral (select case s.place when 'running' then 'lease' when 'available' then 'worker' else s.place end as gate) g
    left join lateral (
      select w.* from weir._why(s.task, t) w
      where w.gate = g.gate or s.place = 'lane' and w.gate in ('order', 'exclusion') order by w.open limit 1
    ) w on true
  order by s.nth;
  if l.cancel_at is not null then
    return query select 'cancel', false, jsonb_build_object('code', 'job_stopping'), null::uuid, l.cancel_at;
  end if;
end $$;
comment on function weir._why_job is 'Why a job is where it is, with reasons for programs.';
