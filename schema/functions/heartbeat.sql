-- A worker (and its node) says that it lives. Returns what the node is told to do, and whether a coordinator tends the engine.
create or replace function weir.heartbeat(worker text, at timestamptz default null, out mode text, out tended boolean)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := coalesce(heartbeat.at, clock_timestamp());
begin
  with w as (
    update weir.workers w set seen_at = t, stopped_at = null where w.name = heartbeat.worker returning w.node
  ), n as (
    update weir.nodes n set seen_at = t from w where n.id = w.node returning n.mode, n.mode_until
  )
  select coalesce(n.mode, 'active') into mode from w left join n on coalesce(n.mode_until, 'infinity') > t;
  if not found then
    raise exception using errcode = 'WR404', message = format('there is no worker %L', heartbeat.worker), hint = 'register it first: weir.register_worker';
  end if;
  tended := exists (select from weir.system_locks l where l.lock_name = 'coordinator' and l.expires_at > t);
end $$;
comment on function weir.heartbeat is 'Keeps a worker and its node alive.';
