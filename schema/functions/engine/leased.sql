-- What a node needs to know of a task that it holds, beside what the claim said. Answers only for a live lease of that
-- node: whoever has the credential of one machine learns nothing of what another one does.
create or replace function weir.leased(node text, task uuid, attempt int, token uuid)
returns table (job uuid, key text, run jsonb)
language plpgsql stable security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select q.job, q.key, q.run from weir.running r
  join weir.nodes n on n.id = r.node, lateral (select * from weir.tasks q where q.id = r.task offset 0) q
  where r.task = leased.task and r.attempt = leased.attempt and r.token = leased.token and n.name = leased.node;
  if not found then
    perform weir._raise('WR410', null, 'node %s does not hold attempt %s of task %s',
      jsonb_build_array(leased.node, leased.attempt, leased.task),
      hint => 'the lease ran out or was ended: stop the work');
  end if;
end $$;
comment on function weir.leased is 'The job, key and run of a task that the node holds; WR410 if it does not.';
