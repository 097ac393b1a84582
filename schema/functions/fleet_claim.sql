-- Leases work to a PC for its idle devices: min(slots, eligible devices) − running, and no more than max. In this order: health tasks that are due, retries, units of the
-- active job; with overlap also of the next one. A unit becomes a task here and nowhere else, so supply is one by one. The lock on the PC's row makes its claims follow one
-- another, and the slots are counted under it: there is no 21st. That a device runs one thing is an index.
-- claim_id as in weir.claim: the same one again returns the same leases. A call that finds nothing writes nothing.
create or replace function weir.fleet_claim(worker text, pc text, max int default 20, lease interval default '45 s', claim_id uuid default null, at timestamptz default null)
returns table (task uuid, attempt int, token uuid, service text, params jsonb, job uuid, key text, until timestamptz, deadline timestamptz,
  max_attempts int, claimed_at timestamptz, trace text, gated boolean, run jsonb, device int, serial text, target text)
language plpgsql security definer
set search_path = weir, pg_temp
set enable_seqscan = off
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
  rules weir.fleet_policy;
  active uuid;
  next uuid;
  room int;
  picks weir.fleet_units[] := '{}';
begin
  if coalesce(fleet_claim.max, 0) < 1 or coalesce(lease, '0') <= interval '0' then
    perform weir._invalid('claim: max and lease must be positive');
  end if;
  if current_setting('transaction_isolation') <> 'read committed' then
    perform weir._invalid('claim: slots can be counted in a READ COMMITTED transaction alone', 'set the isolation level of the transaction');
  end if;
  select * into n from weir.nodes x where x.name = fleet_claim.pc;
  select * into p from weir.pcs x where x.node = n.id;
  if not found then
    raise exception using errcode = 'WR404', message = format('there is no PC %L', fleet_claim.pc), hint = 'report its devices first: weir.fleet_report';
  end if;
  w := weir._fleet_worker(worker, n, t);
  if claim_id is not null then
    -- As in weir.claim: the repeat of a claim under way waits for it.
    perform pg_advisory_xact_lock(88, w.id);
    if (select x.last_claim from weir.workers x where x.id = w.id) = claim_id then
      return query select * from weir._fleet_claimed(n.id, fence);
      return;
    end if;
  end if;
  if n.seen_at < t - interval '10 s' then
    -- Who asks for work lives.
    update weir.nodes x set seen_at = greatest(x.seen_at, t) where x.id = n.id returning * into n;
  end if;
  select * into rules from weir.fleet_policy;
  select j.job into active from weir.fleet_jobs j where j.state = 'active';

  -- The lock is a write, and an idle poll writes nothing: look first.
  if weir._pc_why(n, p, t) is not null or (select count(*) from weir.running r where r.node = n.id and r.device is not null) >= coalesce(p.slots, p.reported_slots, rules.slots) then
    return;
  end if;
  if not exists (select from weir._fleet_pick(n.id, active, '{}', 1, rules.health is not null, t))
    and not exists (select from weir.fleet_units u where u.job = active and u.device is null and u.state in ('waiting', 'retrying')) then
    if not rules.overlap or weir._fleet_overlap(n.id, rules.health is not null, false, t) is null then
      return;
    end if;
  end if;

  select * into n from weir.nodes x where x.id = n.id for no key update;
  select * into p from weir.pcs x where x.node = n.id;
  -- After all waiting, so that nothing is claimed before the time it came about.
  t := weir._clock(fleet_claim.at);
  if weir._pc_why(n, p, t) is not null then
    return;
  end if;
  room := least(fleet_claim.max, coalesce(p.slots, p.reported_slots, rules.slots) - (select count(*) from weir.running r where r.node = n.id and r.device is not null));
  if room <= 0 then
    return;
  end if;
  picks := weir._fleet_picks(picks, n.id, active, room, rules.health is not null, t);
  if rules.overlap and cardinality(picks) < room then
    next := weir._fleet_overlap(n.id, rules.health is not null, true, t);
    if next is not null then
      picks := weir._fleet_picks(picks, n.id, next, room, rules.health is not null, t);
    end if;
  end if;
  if cardinality(picks) > 0 and weir._fleet_supply(picks, n, w.id, fence, lease, t) > 0 then
    update weir.workers x set last_claim = fence, seen_at = t where x.id = w.id;
    return query select * from weir._fleet_claimed(n.id, fence);
  end if;
end $$;
comment on function weir.fleet_claim is 'Leases work to a PC for its idle devices, within its slots. The same claim_id again returns the same leases.';
