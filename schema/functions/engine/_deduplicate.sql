-- For each new id: the task that already answers to its idempotency key, or holds its unique key; else null.
-- A key whose holder ends between the insert, which gives way to it, and the look is taken in another turn.
-- The keys are taken in sorted order, so that two submissions with the same keys never wait for each other in a ring.
-- A key stands for one body: the same key with another one is refused, for one of the two would be dropped in silence.
create or replace function weir._deduplicate(specs weir.task_spec[], ids uuid[]) returns uuid[]
language plpgsql
set search_path = weir, pg_temp
set jit = off
set enable_nestloop = on
as $$
#variable_conflict use_column
declare
  same uuid[];
  settled boolean;
  bad bigint;
  -- Keys that were taken before they belonged to somebody are everybody's.
  keys text[] := array(select coalesce(old.key, m.key) from unnest(specs) with ordinality s
    cross join lateral (select weir._subject_key(s.idempotency_key) as key) m
    left join weir.idempotency old on old.key = weir._plain_key(m.key) and not old.job and old.body is null
    order by s.ordinality);
  bodies bytea[] := array(select case when (s).idempotency_key is not null then weir._body_hash(s) end
    from unnest(specs) s);
begin
  loop
    insert into weir.idempotency (key, id, job, body)
    select x.key, x.id, false, x.body from unnest(keys, ids, bodies) x (key, id, body) where x.key is not null
    order by 1, 2
    on conflict do nothing;

    select min(x.n) into bad from unnest(keys, bodies) with ordinality x (key, body, n)
    join weir.idempotency k on k.key = x.key and not k.job where k.body <> x.body;
    if bad is not null then
      perform weir._invalid_task(bad, weir._fault('idempotency_key', 'it was used before with another body'),
        hint => 'use another key, or send what was sent before');
    end if;

    insert into weir.unique_keys (service, key, task)
    select s.service, s.unique_key, x.id
    from unnest(specs) with ordinality s, unnest(ids, keys) with ordinality x (id, key, n)
    where s.ordinality = x.n and s.unique_key is not null
      and (x.key is null or exists (select from weir.idempotency k where k.key = x.key and not k.job and k.id = x.id))
    order by 1, 2
    on conflict do nothing;

    select array_agg(coalesce(nullif(k.id, x.id), nullif(u.task, x.id)) order by x.n),
      bool_and((x.key is null or k.id is not null)
        and (s.unique_key is null or u.task is not null or coalesce(k.id <> x.id, false)))
    into same, settled
    from unnest(specs) with ordinality s join unnest(ids, keys) with ordinality x (id, key, n) on s.ordinality = x.n
    left join weir.idempotency k on k.key = x.key and not k.job
    left join weir.unique_keys u on u.service = s.service and u.key = s.unique_key and coalesce(k.id, x.id) = x.id;
    exit when settled;
  end loop;

  -- A task that gave way to a unique key answers to its idempotency key from now on.
  update weir.idempotency k set id = x.same
  from unnest(ids, keys, same) x (id, key, same)
  where k.key = x.key and not k.job and k.id = x.id and x.same is not null;
  return same;
end $$;
comment on function weir._deduplicate is 'The tasks that stand for repeated submissions.';
