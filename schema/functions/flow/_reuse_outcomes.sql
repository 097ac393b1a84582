-- Ends tasks of a job that stand at the gate plan as those with the same keys ended in the job that this one repeats,
-- all at once. One that was not done there goes on waiting for its plan. The caller holds the job.
create or replace function weir._reuse_outcomes(in_job uuid, keys text[], t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = on
as $$
#variable_conflict use_column
declare
  origin uuid := (select j.origin from weir.jobs j where j.id = in_job);
  ended weir.finished[];
begin
  select array_agg(weir._finished_row(p.task, t, p.attempt + 1, 'done', result => f.result) order by p.task) into ended
  from unnest(weir._tasks_by_key(in_job, keys), weir._tasks_by_key(origin, keys)) r (task, old),
    lateral (select p.task, p.attempt from weir.pending p where p.task = r.task and p.gate = 'plan' offset 0) p,
    lateral (select f.result from weir.finished f where f.task = r.old and f.outcome = 'done' offset 0) f;
  if ended is null then
    return;
  end if;
  delete from weir.pending p where p.task = any (array(select e.task from unnest(ended) e));
  perform weir._close(ended, 'rerun');
  perform weir._after_end(array(select e.task from unnest(ended) e), null, null, t);
end $$;
comment on function weir._reuse_outcomes is 'Ends tasks as they ended in the job that theirs repeats.';
