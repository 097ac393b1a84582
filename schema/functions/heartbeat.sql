-- A worker (and its node) says that it lives. Returns what the node is told to do, and whether a coordinator tends the engine.
create or replace function weir.heartbeat(worker text, at timestamptz default null, out mode text, out tended boolean)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(heartbeat.at);
begin
  -- The node before its worker, as weir.claim locks them.
  update weir.nodes n set seen_at = t where n.id = (select w.node from weir.workers w where w.name = heartbeat.worker)
  returning case when coalesce(n.mode_until, 'infinity') > t then n.mode end into mode;
  mode := coalesce(mode, 'active');
  update weir.workers w set seen_at = t, stopped_at = null where w.name = heartbeat.worker;
  if not found then
    raise exception using errcode = 'WR404', message = format('there is no worker %L', heartbeat.worker), hint = 'register it first: weir.register_worker';
  end if;
  tended := exists (select from weir.system_locks l where l.lock_name = 'coordinator' and l.expires_at > t);
end $$;
comment on function weir.heartbeat is 'Keeps a worker and its node alive.';
