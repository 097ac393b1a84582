-- Leases work to a PC for its idle devices: min(slots, eligible devices) − running, and no more than max. In this
-- order: health tasks that are due, retries, units of the active job of each lane; with overlap also of the next ones.
-- A device that two lanes want serves the job of the higher priority, then the older one. A unit becomes
-- a task here and nowhere else, so supply is one by one. The lock on the PC's row makes its claims follow one another,
-- and the slots are counted under it: there is no 21st. That a device runs one thing is an index.
-- claim_id as in weir.claim: the same one again returns the same leases. A call that finds nothing writes nothing.
create or replace function weir.fleet_claim(worker text, pc text, max int default 20, lease interval default '45 s',
  claim_id uuid default null, at timestamptz default null)
returns table (task uuid, attempt int, token uuid, service text, params jsonb, job uuid, key text, until timestamptz,
  deadline timestamptz, max_attempts int, claimed_at timestamptz, trace text, gated boolean, run jsonb, device int,
  serial text, target text)
language plpgsql security definer
set search_path = weir, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(fleet_claim.at);
  fence uuid := coalesce(claim_id, gen_random_uuid());
  n weir.nodes;
  p weir.pcs;
  w weir.workers;
  s record;
  locked record;
  next uuid;
  nexts uuid[];
  picks weir.fleet_units[] := '{}';
begin
  if coalesce(fleet_claim.max, 0) < 1 or coalesce(lease, '0') <= interval '0' then
    perform weir._invalid('claim', 'max and lease must be positive');
  end if;
  perform weir._check(weir._bad_span('lease', lease));
  if current_setting('transaction_isolation') <> 'read committed' then
    perform weir._invalid('claim', 'slots can be counted in a READ COMMITTED transaction alone',
      hint => 'set the isolation level of the transaction');
  end if;
  select * into n from weir.nodes x where x.name = fleet_claim.pc;
  select * into p from weir.pcs x where x.node = n.id;
  if not found then
    perform weir._not_found('PC', fleet_claim.pc, hint => 'report its devices first: weir.fleet_report');
  end if;
  select * into w from weir.workers x where x.name = fleet_claim.worker;
  if w.node is distinct from n.id then
    w := weir._fleet_worker(worker, n, t);
  end if;
  if claim_id is not null then
    -- As in weir.claim: the repeat of a claim under way waits for it.
    perform pg_advisory_xact_lock(88, w.id);
  end if;
  if n.seen_at < t - interval '10 s' then
    -- Who asks for work lives.
    update weir.nodes x set seen_at = greatest(x.seen_at, t) where x.id = n.id returning * into n;
  end if;
  select f.health is not null as checked, f.overlap,
    array(select j.job from weir.fleet_jobs j where j.state = 'active'
      order by j.priority desc, j.order_seq) as active, x.last_claim = claim_id as again,
    least(fleet_claim.max,
      coalesce(p.slots, p.reported_slots, f.slots)
        - (select count(*) from weir.running r where r.node = n.id and r.device is not null))::int as room
  into s from weir.fleet_policy f, weir.workers x where x.id = w.id;
  if s.again then
    return query select * from weir._fleet_leases_of_claim(n.id, fence);
    return;
  end if;

  -- The lock is a write, and an idle poll writes nothing: look first.
  if s.room <= 0 or weir._pc_reason(n, p, t) is not null then
    return;
  end if;
  picks := array(
    select weir._fleet_pick_row(x.job, x.unit, x.device, x.task)
    from weir._fleet_pick(n.id, s.active, '{}', s.room, s.checked, t) x);
  if cardinality(picks) = 0
    and not exists (select from weir.fleet_units u
      where u.job = any (s.active) and u.device is null and u.state in ('waiting', 'retrying')) then
    if not s.overlap or weir._fleet_overlap(n.id, s.checked, false, t) = '{}' then
      return;
    end if;
  end if;

  select * into n from weir.nodes x where x.id = n.id for no key update;
  -- After all waiting, so that nothing is claimed before the time it came about.
  t := weir._clock(fleet_claim.at);
  -- What was picked before the lock is taken if it fills the room and each device still can: only claims of this PC
  -- give them work, and now there is no other. Units are looked at again when they are taken.
  select weir._pc_reason(n, x, t) as why,
    least(fleet_claim.max,
      coalesce(x.slots, x.reported_slots, f.slots)
        - (select count(*) from weir.running r where r.node = n.id and r.device is not null))::int as room,
    exists (
      select from unnest(picks) k
      left join weir.devices d on d.id = k.device and d.node = n.id and d.online and d.missing_at is null
        and d.reserved_by is null
        and case when k.job is null then d.check_at <= t and d.health in ('unknown', 'suspect', 'quarantined')
          else d.health in ('good', 'suspect') or d.health = 'unknown' and not s.checked end
        and not exists (select from weir.running r where r.device = d.id)
      where d.id is null) as stale
  into locked from weir.pcs x, weir.fleet_policy f where x.node = n.id;
  if locked.why is not null or locked.room <= 0 then
    return;
  end if;
  if locked.stale or cardinality(picks) <> locked.room then
    picks := weir._fleet_picks('{}', n.id, s.active, locked.room, s.checked, t);
  end if;
  if s.overlap and cardinality(picks) < locked.room then
    nexts := weir._fleet_overlap(n.id, s.checked, true, t);
    foreach next in array nexts loop
      exit when cardinality(picks) >= locked.room;
      picks := weir._fleet_picks(picks, n.id, array[next], locked.room, s.checked, t);
    end loop;
  end if;
  if cardinality(picks) > 0 and weir._fleet_lease_picks(picks, n, w.id, fence, lease, t) > 0 then
    update weir.workers x set last_claim = fence, seen_at = t where x.id = w.id;
    return query select * from weir._fleet_leases_of_claim(n.id, fence);
  end if;
end $$;
comment on function weir.fleet_claim is
  'Leases work to a PC for its idle devices, within its slots. The same claim_id again returns the same leases.';
