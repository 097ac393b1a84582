-- A process says which services it can do, on which node (if it belongs to one), with which labels of its own. On a
-- node that may not do all of them (see weir.register_node) it does the others. holder says which process it is:
-- another one does not get the name while this one is heard, for two that claim under one name would take each other's
-- work for their own.
create or replace function weir.register_worker(name text, services text[], node text default null,
  labels jsonb default '{}', holder text default null, at timestamptz default null) returns int
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(register_worker.at);
  n int;
  id int;
  does text[] := register_worker.services;
  was weir.workers;
begin
  if coalesce(register_worker.name, '') = '' or length(register_worker.name) > 200 then
    perform weir._invalid('name', 'a worker has a name of 1 to 200 characters');
  end if;
  if register_worker.services is null or array_position(register_worker.services, null) is not null then
    perform weir._invalid('services', 'expected a list of names');
  end if;
  perform weir._check(weir._bad_text('holder', register_worker.holder));
  perform weir._check_labels(register_worker.labels);
  if register_worker.node is not null then
    select x.id into n from weir.nodes x where x.name = register_worker.node;
    if n is null then
      perform weir._not_found('node', register_worker.node, hint => 'register it first: weir.register_node');
    end if;
    perform weir._own_node(register_worker.node);
    does := coalesce((select array(select s from unnest(does) s where c.services ? s) from weir.node_credentials c
        where c.node = register_worker.node and c.services is not null), does);
  end if;
  select * into was from weir.workers x where x.name = register_worker.name for no key update;
  -- Who does not say which process it is, is another one. A name that nobody ever held this way is everybody's.
  if was.holder is not null and was.holder is distinct from register_worker.holder and was.stopped_at is null
    and was.seen_at > t - interval '30 s' then
    perform weir._conflict('%s is another process, which was heard %s ago',
      jsonb_build_array(register_worker.name, weir._span(t - was.seen_at)),
      hint => 'take another name, or stop the other one; once it is silent for 30 s this one takes its place');
  end if;
  insert into weir.workers as w (name, services, node, labels, holder, started_at, seen_at)
  values (register_worker.name, does, n, coalesce(register_worker.labels, '{}'), register_worker.holder, t, t)
  on conflict (name) do update set services = excluded.services, node = excluded.node, labels = excluded.labels,
    holder = excluded.holder, started_at = t, seen_at = t, stopped_at = null
  returning w.id into id;
  -- The usual class of a service exists before its first task: else that one's transaction would keep others of the
  -- service waiting.
  insert into weir.classes (service, priority, labels)
  select distinct s, 0, '{}'::jsonb from unnest(does) s order by 1 on conflict do nothing;
  insert into weir.events (at, type, kind, subject, worker, data)
  values (t, 'registered', 'worker', register_worker.name, id,
    jsonb_build_object('services', does, 'node', register_worker.node));
  return id;
end $$;
comment on function weir.register_worker is 'Registers a worker.';
