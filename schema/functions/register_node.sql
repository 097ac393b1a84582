-- A machine says that it is there, what it is (labels), how much it can do at once (capacity: slots per service), and by which means (version
-- and drivers of its agent; null: it did not say, and what is known stays).
create or replace function weir.register_node(name text, labels jsonb default '{}', capacity jsonb default '{}', version text default null,
  drivers text[] default null, at timestamptz default null) returns int
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
  perform weir._check_node(register_node.labels, register_node.capacity);
  if length(register_node.version) > 200 or cardinality(register_node.drivers) > 100 then
    perform weir._invalid('version, drivers: at most 200 characters, at most 100 drivers');
  end if;
  select * into was from weir.nodes n where n.name = register_node.name;
  insert into weir.nodes as n (name, labels, capacity, version, drivers, registered_at, seen_at)
  values (register_node.name, register_node.labels, register_node.capacity, register_node.version, register_node.drivers, t, t)
  on conflict (name) do update set labels = excluded.labels, capacity = excluded.capacity, seen_at = t,
    version = coalesce(excluded.version, n.version), drivers = coalesce(excluded.drivers, n.drivers)
  returning n.id into id;
  if was.id is null or (was.labels, was.capacity) is distinct from (register_node.labels, register_node.capacity)
    or coalesce(register_node.version, was.version) is distinct from was.version or coalesce(register_node.drivers, was.drivers) is distinct from was.drivers
  then
    insert into weir.events (at, type, kind, subject, data)
    values (t, 'registered', 'node', register_node.name, jsonb_build_object('labels', register_node.labels, 'capacity', register_node.capacity)
      || jsonb_strip_nulls(jsonb_build_object('version', register_node.version, 'drivers', to_jsonb(register_node.drivers))));
  end if;
  return id;
end $$;
comment on function weir.register_node is 'Registers a node or changes its labels, capacity, version and drivers.';
