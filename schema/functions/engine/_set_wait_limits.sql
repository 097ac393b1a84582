-- Remembers how long tasks of a job wait for a worker: an array of objects with key, relax, labels and fail.
create or replace function weir._set_wait_limits(in_job uuid, patience jsonb) returns void
language sql
set search_path = weir, pg_temp
as $$
  insert into weir.patience (task, relax, labels, fail)
  select q.id, least(x.relax, interval '100 years'), nullif(x.labels, 'null'), least(x.fail, interval '100 years')
  from jsonb_to_recordset(patience) x (key text, relax interval, labels jsonb, fail interval)
  join weir.tasks q on q.job = in_job and q.key = x.key
  on conflict (task) do update set relax = excluded.relax, labels = excluded.labels, fail = excluded.fail
$$;
comment on function weir._set_wait_limits is 'Writes the patience of tasks of a job.';
