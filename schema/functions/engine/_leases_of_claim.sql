-- The leases of a claim that was made before: the answer to its repeat.
create or replace function weir._leases_of_claim(of_worker int, fence uuid)
returns table (task uuid, attempt int, token uuid, service text, params jsonb, job uuid, key text, until timestamptz,
  deadline timestamptz, max_attempts int, claimed_at timestamptz, trace text, gated boolean, run jsonb)
language sql stable
set search_path = weir, pg_temp
as $$
  select r.task, r.attempt::int, r.token, c.service, q.params, r.job, q.key, r.until, r.deadline,
    coalesce(q.max_attempts, 3), r.claimed_at, q.trace, (r.job is not null or r.lane is not null or r.pool is not null),
    q.run
  from weir.running r, lateral (select * from weir.tasks q where q.id = r.task offset 0) q
  join weir.classes c on c.id = q.class
  where r.worker = of_worker and r.token = fence
  order by c.priority desc, q.order_seq, q.position
$$;
comment on function weir._leases_of_claim is 'What a worker holds from one claim.';
