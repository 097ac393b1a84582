-- Remembers what a task of a job asks for while it is held: an object with event, deciders, expires and late. The
-- caller has checked it and holds the job.
create or replace function weir._ask(of_task uuid, of_job uuid, ask jsonb) returns void
language sql
set search_path = weir, pg_temp
as $$
  insert into weir.asks (task, job, event, deciders, expires, late)
  select of_task, of_job, x.event, x.deciders,
    case when x.expires is not null then least(x.expires, interval '100 years') end, coalesce(x.late, 'fail')
  from jsonb_to_record(ask) x (event text, deciders text[], expires interval, late text)
  on conflict (task) do update
  set event = excluded.event, deciders = excluded.deciders, expires = excluded.expires, late = excluded.late,
    open = true
$$;
comment on function weir._ask is 'Writes what a held task asks for.';
