-- Which of these leases are live but another node's. A token is hard to guess; this makes sure that one that leaked is
-- of no use elsewhere.
create or replace function weir.foreign_leases(node text, tasks uuid[], attempts int[], tokens uuid[])
returns table (task uuid, attempt int)
language plpgsql stable security definer
set search_path = weir, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query select r.task, r.attempt::int from unnest(tasks, attempts, tokens) g (task, attempt, token),
    lateral (select r.task, r.attempt, r.node from weir.running r
      where r.task = g.task and r.attempt = g.attempt and r.token = g.token offset 0) r
  where r.node is distinct from (select n.id from weir.nodes n where n.name = foreign_leases.node);
end $$;
comment on function weir.foreign_leases is 'The live leases among these that are not held by the node.';
