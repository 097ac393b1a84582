-- What an executor needs to run a task, for the lease that it has, and the last look at everything that its start
-- depended on: the plan is the frozen one, its approvals are there, the database is the one it was, the text is that of
-- the checksum. code says what is not so, and then nothing is run. The run is written down as claimed.
-- first: nothing of the rollout has run there yet. base is the hash of the schema that was kept, drifted that the
-- database has another one.
create or replace function weir.rollout_brief(task uuid, attempt int, token uuid, worker text default null,
  at timestamptz default null, out code text, out problem text, out rollout uuid, out key text, out run_by text,
  out out_of_order boolean, out database text, out engine text, out secret text, out identity text, out change jsonb,
  out sql text, out first boolean, out base text, out drifted boolean)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_brief.at);
  x weir.rollout_tasks;
  r weir.rollouts;
  s weir.rollout_stages;
  d weir.databases;
  was weir.rollout_runs;
  frozen jsonb;
  approved int;
begin
  if not exists (select from weir.running l
    where l.task = rollout_brief.task and l.attempt = rollout_brief.attempt and l.token = rollout_brief.token) then
    code := 'lease_lost'; problem := 'the lease is somebody else''s by now';
    return;
  end if;
  select * into x from weir.rollout_tasks y where y.task = rollout_brief.task;
  if not found then
    code := 'invalid'; problem := 'the task belongs to no rollout';
    return;
  end if;
  select * into r from weir.rollouts y where y.job = x.rollout;
  select * into s from weir.rollout_stages y where y.rollout = x.rollout and y.n = x.stage;
  select * into d from weir.databases y where y.name = x.database;
  select * into was from weir.rollout_runs y where y.task = x.task and y.attempt < rollout_brief.attempt
  order by y.attempt desc limit 1;
  insert into weir.rollout_runs as g (task, attempt, token, worker, phase, claimed_at)
  values (x.task, rollout_brief.attempt, rollout_brief.token, rollout_brief.worker, 'claimed', t)
  on conflict do nothing;
  select f.value into frozen from jsonb_array_elements(r.plan -> 'stages' -> (x.stage - 1) -> 'databases') f
  where f.value ->> 'name' = x.database;
  select count(*) into approved from weir.rollout_approvals a
  where a.rollout = r.job and a.stage = x.stage and a.hash = r.hash;
  select q.key into key from weir.tasks q where q.id = x.task;
  rollout := r.job; run_by := coalesce(r.started_by, r."by");
  out_of_order := coalesce((r.plan ->> 'out_of_order')::boolean, false);
  database := d.name; engine := d.engine; secret := d.secret; identity := coalesce(frozen ->> 'identity', d.identity);
  change := r.plan -> 'changes' -> x.change::int;
  select c.sql into sql from weir.changes c where c.checksum = change ->> 'checksum';
  first := not exists (select from weir.rollout_tasks y join weir.rollout_runs g on g.task = y.task
    where y.rollout = r.job and y.database = x.database and (g.task, g.attempt) <> (x.task, rollout_brief.attempt));
  select k.hash, k.drifted into base, drifted from weir.snapshots k where k.database = x.database;
  code := 'drift';
  problem := case
    when r.hash <> weir._rollout_hash(r.plan) then 'the plan is not the one that was frozen'
    when d.name is null then format('database %s is not registered any more', x.database)
    when d.engine <> frozen ->> 'engine' then
      format('database %s is %s, it was %s when the plan was made', d.name, d.engine, frozen ->> 'engine')
    when d.environment <> frozen ->> 'environment' then
      format('database %s belongs to environment %s, it was in %s when the plan was made', d.name, d.environment,
        frozen ->> 'environment')
    when d.identity <> frozen ->> 'identity' then
      format('database %s is another one than the plan was made for: the plan has %s, and since then somebody took %s '
        'for the right one; make a new plan',
        d.name, frozen ->> 'identity', d.identity)
    when sql is null
      or change ->> 'checksum' <> encode(sha256(convert_to(replace(sql, E'\r\n', E'\n'), 'UTF8')), 'hex') then
        format('the text of change %s is not the one of its checksum', change ->> 'name')
    when was.code = 'applied' then null
    when r.aborted_at is not null then format('the rollout was %s', weir._note('aborted', r.aborted_by, r.abort_note))
    when approved < s.approvals then
      format('stage %s has %s of %s approvals of this plan', s.name, approved, s.approvals)
    when s.begun_at is null then format('stage %s has not begun: somebody released the task by hand', s.name)
  end;
  if problem is null and (was.unknown or was.code is null and was.phase in ('sent', 'applied')) then
    code := 'unresolved'; problem := format('nobody knows whether attempt %s was applied', was.attempt);
    update weir.rollout_runs g set unknown = false, code = coalesce(g.code, 'lost'), ended_at = coalesce(g.ended_at, t)
    where g.task = x.task and g.attempt = was.attempt;
  end if;
  if problem is null then
    code := null;
  end if;
end $$;
comment on function weir.rollout_brief is 'What a leased task is to do, or why it must not.';
