-- The outputs of the steps that a leased task names as inputs (run.inputs), each of the attempt that was accepted. A
-- step that was mapped stands for all its items. A step that this job took over from the one it repeats left its
-- outputs there, or further back; so did an item of a map.
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
    select j.origin, b.depth + 1 from line b, lateral (select j.origin from weir.jobs j where j.id = b.job offset 0) j
    where j.origin is not null and b.depth < 100
  ), wanted as (
    select distinct i ->> 'from' as step from jsonb_array_elements(coalesce(l.run -> 'inputs', '[]')) i
  ), ended as materialized (
    select w.step, b.depth, q.key, q.id, q.awaits, f.started_at, f.attempt, f.outcome
    from line b, lateral (select q.key, q.id, q.awaits from weir.tasks q where q.job = b.job offset 0) q
    join wanted w on w.step = split_part(q.key, '[', 1),
      lateral (select f.started_at, f.attempt, f.outcome from weir.finished f where f.task = q.id offset 0) f
  ), source as (
    select distinct on (e.step) e.step, e.depth from ended e
    where e.key = e.step and (e.started_at is not null or e.awaits is not null) order by e.step, e.depth
  ), made as (
    select distinct on (e.key) e.* from source s
    join ended own on own.step = s.step and own.depth = s.depth and own.outcome = 'done'
      join ended e on e.key = own.key and e.depth >= s.depth and e.started_at is not null
    order by e.key, e.depth
  )
  select m.key, a.name, a.bucket, a.key, a.size, a.sha256
  from made m,
    lateral (select * from weir.artifacts a
      where a.task = m.id and a.attempt = m.attempt and a.kind = 'output' offset 0) a
  where m.outcome = 'done' order by m.key, a.name;
end $$;
comment on function weir.inputs is 'The artifacts that a leased task asked for.';
