-- Freezes a plan and makes its job: a task for each stage, database and change, which waits to be started. texts has
-- the SQL of each change by its checksum.
-- With replaces it is an edit of that rollout, of which nothing has run: that one is canceled, and its approvals are
-- worth nothing for the new plan.
create or replace function weir.rollout_create(plan jsonb, texts jsonb, warnings jsonb default '[]',
  note text default null, idempotency_key text default null, replaces uuid default null,
  by text default null, at timestamptz default null) returns uuid
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_create.at);
  frozen jsonb := weir.rollout_freeze(rollout_create.plan);
  sum text := weir._rollout_hash(frozen);
  id uuid := weir._id(t);
  was weir.rollouts;
  made uuid;
  pool text := 'rollout/' || id;
  size int := nullif((frozen ->> 'parallel')::int, 0);
  names text[];
  kept text[];
  bad text;
begin
  select c.value ->> 'checksum' into bad from jsonb_array_elements(frozen -> 'changes') c
  where c.value ->> 'checksum' is distinct from
    encode(sha256(convert_to(replace(rollout_create.texts ->> (c.value ->> 'checksum'), E'\r\n', E'\n'), 'UTF8')),
    'hex') limit 1;
  if bad is not null then
    perform weir._invalid('changes', 'the text of %s is not the one of its checksum', jsonb_build_array(bad));
  end if;
  if rollout_create.replaces is not null then
    was := weir._rollout_replaced(rollout_create.replaces, sum);
  end if;
  -- Whoever drops one of its databases from now on finds the rollout.
  names := array(select d.value ->> 'name'
    from jsonb_array_elements(frozen -> 'stages') s, jsonb_array_elements(s.value -> 'databases') d);
  kept := array(select d.name from weir.databases d where d.name = any (names) order by d.name for key share);
  if cardinality(kept) < cardinality(names) then
    perform weir._conflict('database %s was dropped meanwhile',
      jsonb_build_array((select n from unnest(names) n where n <> all (kept) order by n limit 1)),
      hint => 'look at the plan again');
  end if;
  made := weir.open_job(frozen ->> 'name', 'rollout', id => id, idempotency_key => rollout_create.idempotency_key,
    origin => rollout_create.replaces, hint => false, at => rollout_create.at);
  if made <> id then
    if not exists (select from weir.rollouts r where r.job = made and r.hash = sum) then
      perform weir._invalid('idempotency_key', 'it was used before with another body',
        hint => 'use another key, or send what was sent before');
    end if;
    return made;
  end if;
  insert into weir.changes (checksum, sql)
  select distinct on (1) x.key, x.value from jsonb_each_text(rollout_create.texts) x on conflict do nothing;
  insert into weir.rollouts (job, plan, hash, revision, replaces, warnings, note, by, created_at)
  values (id, frozen, sum, coalesce(was.revision, 0) + 1, rollout_create.replaces,
    coalesce(rollout_create.warnings, '[]'), rollout_create.note, rollout_create.by, t);
  insert into weir.rollout_stages (rollout, n, name, environment, databases, approvals, manual, on_failure,
    max_failures, canary)
  select id, s.ordinality, s.value ->> 'name', s.value ->> 'environment', jsonb_array_length(s.value -> 'databases'),
    coalesce((s.value ->> 'approvals')::int, 0), coalesce(s.value ->> 'promote', 'auto') = 'manual',
    coalesce(s.value ->> 'on_failure', 'stop'), coalesce((s.value ->> 'max_failures')::int, 0),
    coalesce((s.value ->> 'canary')::int, 0)
  from jsonb_array_elements(frozen -> 'stages') with ordinality s;
  if size is not null then
    -- Nobody knows of it yet, so it needs no lock.
    insert into weir.pools (name, size, resized_at, note)
    values (pool, size, t, format('parallel limit of rollout %s', frozen ->> 'name'));
    insert into weir.events (at, type, kind, subject, source, data)
    values (t, 'set', 'pool', pool, rollout_create.by, jsonb_build_object('size', size));
  end if;
  insert into weir.rollout_tasks (task, rollout, stage, database, change, version, name, kind, canary)
  select k.task, id, x.stage, x.database, x.change, x.version, x.name, x.kind, x.canary
  from weir._rollout_specs(frozen, weir._sentence(weir._rollout_waits_start(id)),
      case when size is not null then pool end) x
    join weir.add_tasks(id,
      (select jsonb_agg(y.spec order by y.n)
        from weir._rollout_specs(frozen, weir._sentence(weir._rollout_waits_start(id)),
          case when size is not null then pool end) y),
      at => rollout_create.at) k
      on k.key = x.key;
  -- What was not started keeps nobody waiting: it has its rank from the start on.
  update weir.pending p set rank = null
  , hold_reason = weir._rollout_waits_start(id)
  where p.task = any (array(select x.task from weir.rollout_tasks x where x.rollout = id));
  update weir.jobs j set watched = true where j.id = made;
  update weir.job_live j set watched = true where j.job = made;
  insert into weir.events (at, type, kind, subject, job, source, message, data)
  values (t, 'created', 'rollout', id, id, rollout_create.by, frozen ->> 'name',
    jsonb_strip_nulls(jsonb_build_object('hash', sum, 'replaces', rollout_create.replaces)));
  if rollout_create.replaces is not null then
    perform weir.rollout_abort(rollout_create.replaces, rollout_create.by, format('replaced by %s', id),
      at => rollout_create.at);
    update weir.rollouts r set replaced_by = id where r.job = rollout_create.replaces;
  end if;
  perform weir._rollout_settle(id, t);
  return id;
end $$;
comment on function weir.rollout_create is
  'Freezes a plan and makes its rollout. Returns its id, which is that of its job.';
