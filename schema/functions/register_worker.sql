-- A process says which services it can do, on which node (if it belongs to one), with which labels of its own.
create or replace function weir.register_worker(name text, services text[], node text default null, labels jsonb default '{}', at timestamptz default null) returns int
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(register_worker.at);
  n int;
  id int;
begin
  if coalesce(register_worker.name, '') = '' or length(register_worker.name) > 200 then
    perform weir._invalid('name: a worker has a name of 1 to 200 characters');
  end if;
  if register_worker.node is not null then
    select x.id into n from weir.nodes x where x.name = register_worker.node;
    if n is null then
      raise exception using errcode = 'WR404', message = format('there is no node %L', register_worker.node), hint = 'register it first: weir.register_node';
    end if;
  end if;
  insert into weir.workers as w (name, services, node, labels, started_at, seen_at)
  values (register_worker.name, register_worker.services, n, register_worker.labels, t, t)
  on conflict (name) do update set services = excluded.services, node = excluded.node, labels = excluded.labels, started_at = t, seen_at = t, stopped_at = null
  returning w.id into id;
  -- The usual class of a service exists before its first task: else that one's transaction would keep others of the service waiting.
  insert into weir.classes (service, priority, labels) select distinct s, 0, '{}'::jsonb from unnest(register_worker.services) s order by 1 on conflict do nothing;
  insert into weir.events (at, type, kind, subject, worker, data)
  values (t, 'registered', 'worker', register_worker.name, id, jsonb_build_object('services', register_worker.services, 'node', register_worker.node));
  return id;
end $$;
comment on function weir.register_worker is 'Registers a worker.';
