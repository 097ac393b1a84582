-- Somebody changes what a node is or how much it does at once, while it runs. Its agent hears of it with the next
-- heartbeat. Null leaves as is.
-- Of a node that joined with a token that names labels or services, this changes what the token said: it outlives the
-- next start of the agent, which cannot be more than that. Of any other node, what its agent says at its next start
-- comes after it.
create or replace function weir.set_node(name text, labels jsonb default null, capacity jsonb default null,
  by text default null, at timestamptz default null)
returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(set_node.at);
  n weir.nodes;
begin
  perform weir._check_node(set_node.labels, set_node.capacity);
  -- Before the node's row, as weir.register_node locks them. A service that is not in the new capacity may still be
  -- done as before.
  update weir.node_credentials c
  set labels = case when c.labels is not null then coalesce(set_node.labels, c.labels) end,
    services = case when c.services is not null then c.services || coalesce(set_node.capacity, '{}') end
  where c.node = set_node.name
    and (c.labels is not null and set_node.labels is not null
      or c.services is not null and set_node.capacity is not null);
  update weir.nodes n
  set labels = coalesce(set_node.labels, n.labels), capacity = coalesce(set_node.capacity, n.capacity)
  where n.name = set_node.name returning * into n;
  if not found then
    perform weir._not_found('node', set_node.name, hint => null);
  end if;
  insert into weir.events (at, type, kind, subject, source, data)
  values (t, 'changed', 'node', set_node.name, set_node.by,
    jsonb_build_object('labels', n.labels, 'capacity', n.capacity));
  perform pg_notify('weir_available', '');
end $$;
comment on function weir.set_node is 'Changes the labels and the capacity of a node.';
