-- The leases of one claim of a PC. Part of the statement of weir.fleet_claim, as weir._fleet_pick is.
create or replace function weir._fleet_leases_of_claim(of_node int, fence uuid)
returns table (task uuid, attempt int, token uuid, service text, params jsonb, job uuid, key text, until timestamptz,
  deadline timestamptz, max_attempts int, claimed_at timestamptz, trace text, gated boolean, run jsonb, device int,
  serial text, target text)
language sql stable
as $$
  select r.task, r.attempt::int, r.token, 'fleet', q.params, r.job, q.key, r.until, r.deadline,
    coalesce(q.max_attempts, 3)::int, r.claimed_at, q.trace, r.job is not null, q.run,
    d.id, d.serial, coalesce(d.target, d.serial)
  from weir.running r
  join weir.devices d on d.id = r.device, lateral (select * from weir.tasks q where q.id = r.task offset 0) q
  where r.node = of_node and r.token = fence
  order by r.attempt desc, q.order_seq
$$;
comment on function weir._fleet_leases_of_claim is 'What a PC holds from one claim.';
