-- Which of these leases the node holds, with the job and key of their tasks. As weir.leased, for many at once and
-- without an error for one that is lost: the rest of the call is to go on.
create or replace function weir.leased_many(node text, tasks uuid[], attempts int[], tokens uuid[])
returns table (task uuid, attempt int, job uuid, key text)
language plpgsql stable security definer
set search_path = weir, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query select r.task, r.attempt::int, q.job, q.key
  from unnest(tasks, attempts, tokens) g (task, attempt, token),
    lateral (select r.task, r.attempt from weir.running r
      where r.task = g.task and r.attempt = g.attempt and r.token = g.token
        and r.node = (select n.id from weir.nodes n where n.name = leased_many.node) offset 0) r,
    lateral (select * from weir.tasks q where q.id = r.task offset 0) q;
end $$;
comment on function weir.leased_many is 'The job and key of those tasks of these leases that the node holds.';
