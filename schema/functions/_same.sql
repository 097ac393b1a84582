-- For each new id: the task that already answers to its idempotency key, or holds its unique key; else null.
-- A key whose holder ends between the insert, which gives way to it, and the look is taken in another turn.
-- The keys are taken in sorted order, so that two submissions with the same keys never wait for each other in a ring.
create or replace function weir._same(specs weir.task_spec[], ids uuid[]) returns uuid[]
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = on
as $$
#variable_conflict use_column
declare
  same uuid[];
  settled boolean;
begin
  loop
    insert into weir.idempotency (key, id, job)
    select s.idempotency_key, x.id, false from unnest(specs) with ordinality s, unnest(ids) with ordinality x (id, n)
    where s.ordinality = x.n and s.idempotency_key is not null order by 1
    on conflict do nothing;

    insert into weir.unique_keys (service, key, task)
    select s.service, s.unique_key, x.id from unnest(specs) with ordinality s, unnest(ids) with ordinality x (id, n)
    where s.ordinality = x.n and s.unique_key is not null
      and (s.idempotency_key is null or exists (select from weir.idempotency k where k.key = s.idempotency_key and not k.job and k.id = x.id))
    order by 1, 2
    on conflict do nothing;

    select array_agg(coalesce(nullif(k.id, x.id), nullif(u.task, x.id)) order by x.n),
      bool_and((s.idempotency_key is null or k.id is not null) and (s.unique_key is null or u.task is not null or k.id <> x.id))
    into same, settled
    from unnest(specs) with ordinality s join unnest(ids) with ordinality x (id, n) on s.ordinality = x.n
    left join weir.idempotency k on k.key = s.idempotency_key and not k.job
    left join weir.unique_keys u on u.service = s.service and u.key = s.unique_key and coalesce(k.id, x.id) = x.id;
    exit when settled;
  end loop;

  -- A task that gave way to a unique key answers to its idempotency key from now on.
  update weir.idempotency k set id = same[x.n]
  from unnest(specs) with ordinality s, unnest(ids) with ordinality x (id, n)
  where s.ordinality = x.n and k.key = s.idempotency_key and not k.job and k.id = x.id and same[x.n] is not null;
  return same;
end $$;
comment on function weir._same is 'The tasks that stand for repeated submissions.';
