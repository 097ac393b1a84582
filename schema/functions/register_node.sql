-- A machine says that it is there, what it is (labels) and how much it can do at once (capacity: slots per service).
create or replace function weir.register_node(name text, labels jsonb default '{}', capacity jsonb default '{}', at timestamptz default null) returns int
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(register_node.at);
  was weir.nodes;
  id int;
begin
  if coalesce(register_node.name, '') = '' or length(register_node.name) > 200 then
    perform weir._invalid('name: a node has a name of 1 to 200 characters');
  end if;
  if jsonb_typeof(register_node.labels) <> 'object' or exists (select from jsonb_each(register_node.labels) v where jsonb_typeof(v.value) <> 'string') then
    perform weir._invalid('labels: expected an object with string values');
  end if;
  if jsonb_typeof(register_node.capacity) <> 'object' or exists (select from jsonb_each_text(register_node.capacity) v where v.value !~ '^[0-9]{1,6}$') then
    perform weir._invalid('capacity: expected an object of service and number of slots');
  end if;
  select * into was from weir.nodes n where n.name = register_node.name;
  insert into weir.nodes as n (name, labels, capacity, registered_at, seen_at) values (register_node.name, register_node.labels, register_node.capacity, t, t)
  on conflict (name) do update set labels = excluded.labels, capacity = excluded.capacity, seen_at = t
  returning n.id into id;
  if was.id is null or (was.labels, was.capacity) is distinct from (register_node.labels, register_node.capacity) then
    insert into weir.events (at, type, kind, subject, data)
    values (t, 'registered', 'node', register_node.name, jsonb_build_object('labels', register_node.labels, 'capacity', register_node.capacity));
  end if;
  return id;
end $$;
comment on function weir.register_node is 'Registers a node or changes its labels and capacity.';
