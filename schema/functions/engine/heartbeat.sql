-- A worker (and its node) says that it lives. Returns what the node is told to do, and whether a coordinator tends the
-- engine. labels and capacity are those in force, for somebody may have changed them. sleep: the node has had nothing
-- to do for as long as it was told to stay awake.
create or replace function weir.heartbeat(worker text, at timestamptz default null, out mode text, out tended boolean,
  out labels jsonb, out capacity jsonb, out sleep boolean)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(heartbeat.at);
  nd weir.nodes;
begin
  -- The node before its worker, as weir.claim locks them.
  update weir.nodes n set seen_at = t where n.id = (select w.node from weir.workers w where w.name = heartbeat.worker)
  returning * into nd;
  perform weir._own_node(nd.name);
  mode := coalesce(case when coalesce(nd.mode_until, 'infinity') > t then nd.mode end, 'active');
  labels := nd.labels;
  capacity := nd.capacity;
  update weir.workers w set seen_at = t, stopped_at = null where w.name = heartbeat.worker;
  if not found then
    perform weir._not_found('worker', heartbeat.worker, hint => 'register it first: weir.register_worker');
  end if;
  sleep := coalesce(weir._sleep_if_idle(nd.id, t), false);
  tended := exists (select from weir.system_locks l where l.lock_name = 'coordinator' and l.expires_at > t);
end $$;
comment on function weir.heartbeat is 'Keeps a worker and its node alive.';
