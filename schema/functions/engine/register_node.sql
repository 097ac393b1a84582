-- A machine says that it is there, what it is (labels), how much it can do at once (capacity: slots per service), and
-- by which means (version and drivers of its agent, and how it holds the processes of an attempt together, isolation;
-- null: it did not say, and what is known stays). A node that joined
-- with a token that names labels or services is what that says: it has those labels, and of those services no more.
-- What it wanted besides is in the event, as withheld. A node belongs to the role that registered it first: no other
-- but the owner of the schema speaks for it.
create or replace function weir.register_node(name text, labels jsonb default '{}', capacity jsonb default '{}',
  version text default null, drivers text[] default null, isolation text default null,
  at timestamptz default null) returns int
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(register_node.at);
  bound weir.node_credentials;
  was weir.nodes;
  has weir.nodes;
  withheld jsonb;
begin
  if coalesce(register_node.name, '') = '' or length(register_node.name) > 200 then
    perform weir._invalid('name', 'a node has a name of 1 to 200 characters');
  end if;
  register_node.labels := coalesce(register_node.labels, '{}');
  register_node.capacity := coalesce(register_node.capacity, '{}');
  perform weir._check_node(register_node.labels, register_node.capacity);
  perform weir._check(weir._bad_text('version', register_node.version),
    weir._bad_text('isolation', register_node.isolation));
  if cardinality(register_node.drivers) > 100 or array_position(register_node.drivers, null) is not null then
    perform weir._invalid('drivers', 'at most 100 names of drivers');
  end if;
  perform weir._own_node(register_node.name);
  -- Before the node's row, as weir.set_node locks them.
  select * into bound from weir.node_credentials c
  where c.node = register_node.name and (c.labels is not null or c.services is not null) for share;
  has.labels := coalesce(bound.labels, register_node.labels);
  has.capacity := weir._bound_capacity(register_node.capacity, bound.services);
  if register_node.capacity <> '{}' and bound.services is not null
    and not exists (select from jsonb_each_text(has.capacity) s where s.value::int > 0) then
    perform weir._invalid('capacity', 'node %s may do none of these services: %s',
      jsonb_build_array(register_node.name,
        (select string_agg(s, ', ' order by s) from jsonb_object_keys(register_node.capacity) s)),
      hint => coalesce('start its agent with '
        || (select string_agg(format('--service %s=%s', s.key, s.value), ' ' order by s.key)
          from jsonb_each_text(bound.services) s where s.value::int > 0)
        || ', or let', 'let')
      || format(' it join with another token: weir join create --node %s --service NAME=N', register_node.name));
  end if;
  withheld := jsonb_strip_nulls(jsonb_build_object(
    'labels',
      (select jsonb_object_agg(l.key, l.value) from jsonb_each(register_node.labels) l
        where not has.labels @> jsonb_build_object(l.key, l.value)),
    'capacity',
      (select jsonb_object_agg(s.key, s.value) from jsonb_each(register_node.capacity) s
        where has.capacity ->> s.key is distinct from s.value #>> '{}')));
  select * into was from weir.nodes n where n.name = register_node.name;
  insert into weir.nodes as n (name, labels, capacity, version, drivers, isolation, registered_at, seen_at,
    registered_by)
  values (register_node.name, has.labels, has.capacity, register_node.version, register_node.drivers,
    register_node.isolation, t, t, coalesce(weir._caller(), session_user))
  on conflict (name) do update set labels = excluded.labels, capacity = excluded.capacity, seen_at = t,
    registered_by = coalesce(n.registered_by, excluded.registered_by), version = coalesce(excluded.version, n.version),
    drivers = coalesce(excluded.drivers, n.drivers), isolation = coalesce(excluded.isolation, n.isolation)
  returning n.id into has.id;
  if was.id is null or (was.labels, was.capacity) is distinct from (has.labels, has.capacity) or withheld <> '{}'
    or coalesce(register_node.version, was.version) is distinct from was.version
      or coalesce(register_node.drivers, was.drivers) is distinct from was.drivers
  then
    insert into weir.events (at, type, kind, subject, level, message, data)
    values (t, 'registered', 'node', register_node.name, case when withheld <> '{}' then 'warn' end,
      case when withheld <> '{}' then 'it wants to be more than the token it joined with says' end,
      jsonb_build_object('labels', has.labels, 'capacity', has.capacity)
      || jsonb_strip_nulls(jsonb_build_object('version', register_node.version,
          'drivers', to_jsonb(register_node.drivers), 'withheld', nullif(withheld, '{}'))));
  end if;
  return has.id;
end $$;
comment on function weir.register_node is
  'Registers a node or changes its labels, capacity, version and drivers, within what it may have.';
