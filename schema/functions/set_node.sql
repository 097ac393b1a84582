-- Somebody changes what a node is or how much it does at once, while it runs. Its agent hears of it with the next heartbeat. What the agent
-- registers at its next start comes after it. Null leaves as is.
create or replace function weir.set_node(name text, labels jsonb default null, capacity jsonb default null, by text default null, at timestamptz default null) returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(set_node.at);
  n weir.nodes;
begin
  perform weir._check_node(set_node.labels, set_node.capacity);
  update weir.nodes n set labels = coalesce(set_node.labels, n.labels), capacity = coalesce(set_node.capacity, n.capacity) where n.name = set_node.name returning * into n;
  if not found then
    raise exception using errcode = 'WR404', message = format('there is no node %L', set_node.name);
  end if;
  insert into weir.events (at, type, kind, subject, source, data)
  values (t, 'changed', 'node', set_node.name, set_node.by, jsonb_build_object('labels', n.labels, 'capacity', n.capacity));
  perform pg_notify('weir_available', '');
end $$;
comment on function weir.set_node is 'Changes the labels and the capacity of a node.';
