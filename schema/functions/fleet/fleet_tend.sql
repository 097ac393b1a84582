-- What time alone brings about for fleets: devices that stay away are offline (but for those that their power command
-- may have switched off), PCs that are silent for 45 s, or have said goodbye, take their devices with them, a job that
-- cannot come further ends, and one that waits is active if none of its lane is. Leases that ran out are the engine's
-- (weir.tend). Anybody may call it; a second caller returns at once. Writes nothing when nothing is due. more: another
-- call has work to do.
create or replace function weir.fleet_tend(at timestamptz default null, out offline int, out missed int,
  out more boolean)
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(fleet_tend.at);
  gone int[];
  n weir.nodes;
  k int;
  j uuid;
  n_lane text;
begin
  offline := 0; missed := 0; more := false;
  if not pg_try_advisory_xact_lock(89, 1) then
    return;
  end if;
  if weir._device_due(t) > 0 then
    more := true;
    return;
  end if;
  gone := array(select d.id from weir.devices d where d.missing_at <= t - interval '30 s'
      and not weir._device_powered(d.id)
    order by d.missing_at limit 500);
  if cardinality(gone) > 0 then
    perform from weir.nodes x where x.id in (select d.node from weir.devices d where d.id = any (gone)) order by x.id
    for no key update;
    -- Again: a report may have seen them meanwhile.
    gone := array(select d.id from weir.devices d where d.id = any (gone) and d.missing_at <= t - interval '30 s');
    perform weir._device_lost(gone, 'the device went away', t);
    perform weir._device_gone(gone, t);
    offline := cardinality(gone);
  end if;
  for n in
    select x.* from weir.nodes x join weir.pcs p on p.node = x.id
    where (x.seen_at < t - interval '45 s' or p.left_at is not null)
      and exists (select from weir.devices d where d.node = x.id and d.online)
    order by x.id limit 100 for no key update of x skip locked
  loop
    continue when n.seen_at >= t - interval '45 s'
      and not exists (select from weir.pcs p where p.node = n.id and p.left_at is not null);
    update weir.devices d set online = false, online_at = t, missing_at = null where d.node = n.id and d.online;
    get diagnostics k = row_count;
    offline := offline + k;
    insert into weir.events (at, type, kind, subject, level, message, data)
    values (t, 'lost', 'pc', n.name, 'warn',
      format('%s: its %s devices are offline',
        weir._sentence(weir._pc_reason(n, (select p from weir.pcs p where p.node = n.id), t)), k),
      jsonb_build_object('devices', k));
  end loop;
  if offline > 0 then
    -- Jobs come before devices, so they have a turn of their own.
    more := true;
    return;
  end if;
  for j in select x.job from weir.fleet_jobs x
    where x.state = 'active' or x.state = 'waiting' and x.planned_at is not null order by x.job loop
    missed := missed + weir._fleet_advance(j, t);
  end loop;
  -- In the order of the jobs, as everywhere: see weir.fleet_cancel.
  for n_lane in select x.lane from (
      select distinct on (x.lane) x.lane, x.job from weir.fleet_jobs x
      where x.state = 'waiting'
        and not exists (select from weir.fleet_jobs a where a.state = 'active' and a.lane = x.lane)
      order by x.lane, x.priority desc, x.order_seq
    ) x order by x.job
  loop
    perform weir._fleet_next(n_lane, t, patient => false);
  end loop;
end $$;
comment on function weir.fleet_tend is 'One bounded pass of everything that time alone brings about for fleets.';
