-- Forgets a node that is gone for good: its row, how it is woken, and its credential. What it did stays in the timeline
-- under the name of its worker.
-- A node that lives would only come back, and one with leases is not gone, so both are refused. Should its agent start
-- again after all, it registers anew, or has to join again.
create or replace function weir.drop_node(name text, by text default null, at timestamptz default null) returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(drop_node.at);
  n weir.nodes;
  held int;
begin
  -- The credential before the node's row, as weir.register_node locks them.
  perform from weir.node_credentials c where c.node = drop_node.name for update;
  select * into n from weir.nodes x where x.name = drop_node.name for update;
  if not found then
    perform weir._not_found('node', drop_node.name, hint => null);
  end if;
  if n.seen_at > t - interval '30 s'
    and exists (select from weir.workers w
      where w.node = n.id and w.stopped_at is null and w.seen_at > t - interval '30 s') then
    perform weir._conflict('node %s is alive', jsonb_build_array(n.name),
      hint => format('stop its agent first; to keep it from working, weir node drain %s', n.name));
  end if;
  select count(*) into held from weir.running r where r.node = n.id;
  if held > 0 then
    perform weir._conflict('node %s still holds %s tasks', jsonb_build_array(n.name, held),
      hint => 'wait until their leases have run out');
  end if;
  update weir.workers w set node = null, stopped_at = coalesce(w.stopped_at, t) where w.node = n.id;
  delete from weir.node_credentials c where c.node = n.name;
  delete from weir.nodes x where x.id = n.id;
  insert into weir.events (at, type, kind, subject, source) values (t, 'removed', 'node', n.name, drop_node.by);
end $$;
comment on function weir.drop_node is 'Forgets a node that is gone, with its credential.';
