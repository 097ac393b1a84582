-- The outputs of the steps that a leased task names as inputs (run.inputs), each of the attempt that was accepted. A step that was mapped stands
-- for all its items. A step that this job took over from the one it repeats left its outputs there, or further back.
create or replace function weir.inputs(node text, task uuid, attempt int, token uuid)
returns table (step text, name text, bucket text, object text, size bigint, sha256 text)
language plpgsql stable security definer
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  l record;
begin
  select * into l from weir.leased(inputs.node, inputs.task, inputs.attempt, inputs.token);
  return query
  with recursive line (job, depth) as (
    select l.job, 0
    union all
    select j.origin, b.depth + 1 from line b, lateral (select j.origin from weir.jobs j where j.id = b.job offset 0) j where j.origin is not null and b.depth < 100
  ), wanted as (
    select distinct i ->> 'from' as step from jsonb_array_elements(coalesce(l.run -> 'inputs', '[]')) i
  ), source as (
    select w.step, (
      select b.job from line b, lateral (select q.id, q.awaits from weir.tasks q where q.job = b.job and q.key = w.step offset 0) q,
        lateral (select f.started_at from weir.finished f where f.task = q.id offset 0) f
      where f.started_at is not null or q.awaits is not null order by b.depth limit 1) as job
    from wanted w
  )
  select q.key, a.name, a.bucket, a.key, a.size, a.sha256
  from source s, lateral (select * from weir.artifacts a where a.job = s.job and a.kind = 'output' offset 0) a,
    lateral (select q.key from weir.tasks q where q.id = a.task offset 0) q,
    lateral (select f.attempt, f.outcome from weir.finished f where f.task = a.task offset 0) f
  where f.outcome = 'done' and f.attempt = a.attempt and (q.key = s.step or starts_with(q.key, s.step || '['))
  order by q.key, a.name;
end $$;
comment on function weir.inputs is 'The artifacts that a leased task asked for.';
