-- A PC says which devices it sees. New ones are registered; one that its PC has lost moves to the one that sees it, but
-- what two PCs see at once stays where it was, for then two devices have one serial, or somebody lies; one that is
-- absent is missing, and after 30 s offline, unless its power command may have it off. When it lost many at once, the
-- fault is a hub, a cable or the PC itself: the PC is paused, what ran on them is given back without spending an
-- attempt, and nobody is punished.
-- Returns the attempts of this PC that are over, so that it stops them: their reports would be refused. A report that
-- says nothing new writes next to nothing.
create or replace function weir.fleet_report(pc text, devices jsonb, slots int default null,
  at timestamptz default null)
returns table (task uuid, attempt int, why text)
language plpgsql security definer
set search_path = weir, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(fleet_report.at);
  n weir.nodes;
  serials text[];
  fresh jsonb;
  known int[];
  moved int[];
  absent int[];
  gone int[];
  twice text[];
begin
  perform weir._fleet_check_report(fleet_report.devices);
  if fleet_report.slots not between 1 and 1000 then
    perform weir._invalid('slots', '1 to 1000');
  end if;
  serials := array(select x ->> 'serial' from jsonb_array_elements(fleet_report.devices) x);
  n := weir._fleet_pc(fleet_report.pc, fleet_report.slots, t);
  -- Twice: what is new is looked at again once the PCs are locked. A report without news stops here.
  for turn in 1..2 loop
    select jsonb_agg(to_jsonb(s)) filter (where d.id is null),
      array_agg(d.id) filter (where d.node is distinct from n.id and d.id is not null and not h.held),
      array_agg(d.id) filter (where not h.held
        and (not d.online or d.missing_at is not null or d.node is distinct from n.id
        or (d.target, d.hub, d.labels) is distinct from (s.target, s.hub, coalesce(nullif(s.labels, 'null'), '{}')))),
      array_agg(d.serial) filter (where h.held)
    into fresh, moved, known, twice
    from jsonb_to_recordset(fleet_report.devices) s (serial text, target text, hub text, labels jsonb)
    left join weir.devices d on d.serial = s.serial
      left join weir.nodes o on o.id = d.node
        and o.id <> n.id,
          lateral (select coalesce(d.online and d.missing_at is null
              and o.seen_at >= t - interval '45 s', false) as held) h;
    known := array_remove(known, null);
    absent := array(select d.id from weir.devices d
      where d.node = n.id and d.online and d.missing_at is null and d.serial <> all (serials));
    gone := array(select d.id from weir.devices d
      where d.node = n.id and d.missing_at <= t - interval '30 s' and d.serial <> all (serials)
        and not weir._device_powered(d.id));
    exit when turn = 2;
    if fresh is null and twice is null
      and coalesce(cardinality(known), 0) + cardinality(absent) + cardinality(gone) = 0 then
      perform weir._pc_heartbeat(n, fleet_report.slots, t);
      return;
    end if;
    perform weir._device_valid(fleet_report.devices);
    -- In order, and before anything of them is written: PCs may swap devices.
    perform from weir.nodes x where x.id = n.id or x.id in (select d.node from weir.devices d where d.id = any (moved))
    order by x.id for no key update;
  end loop;

  perform weir._pc_heartbeat(n, fleet_report.slots, t);
  -- Leases and jobs before devices: see weir._device_freed and weir._fleet_stop.
  if cardinality(moved) > 0 then
    perform weir._device_lost(moved, format('it moved to %s', n.name), t);
  end if;
  if cardinality(absent) > 0 then
    return query select * from weir._fleet_dropout(n, absent, t);
  end if;
  if cardinality(gone) > 0 then
    return query select * from weir._device_lost(gone, 'the device went away', t);
  end if;
  if fresh is not null then
    perform weir._device_new(n, fresh, t);
  end if;
  perform from weir.devices d where d.id = any (absent || gone || known) order by d.id for update;
  if cardinality(absent) > 0 then
    perform weir._device_missing(absent, t);
  end if;
  if cardinality(gone) > 0 then
    perform weir._device_gone(gone, t);
  end if;
  if cardinality(known) > 0 then
    perform weir._device_seen(n, known, fleet_report.devices, t);
  end if;
  if cardinality(twice) > 0 then
    -- Once in ten minutes says enough.
    insert into weir.events (at, type, kind, subject, level, message)
    select t, 'conflict', 'device', x, 'warn', format('%s sees it too: it stays where it was', n.name)
    from unnest(twice) x
    where not exists (select from weir.events e
      where e.kind = 'device' and e.subject = x and e.type = 'conflict' and e.at > t - interval '10 min')
    order by x;
  end if;
end $$;
comment on function weir.fleet_report is 'The devices that a PC sees. Returns attempts that it must stop.';
