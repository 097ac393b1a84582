-- Jobs that grow, workflows, artifacts, secrets, and nodes that sleep. The columns that the engine gains are null for
-- work that does not use them.
-- +goose Up

-- A task may end without having run: somebody knows how it ends (weir.decide).
insert into weir.transition (was, event, becomes) values
  ('pending',   'done',   'done'),
  ('pending',   'failed', 'failed'),
  ('available', 'done',   'done'),
  ('available', 'failed', 'failed');

-- plan: once its needs are met, somebody must say what it is (weir.plan_task) or how it ends (weir.decide). run: how a
-- worker is to run it; the engine only carries it.
alter type weir.task_spec add attribute plan boolean;
alter type weir.task_spec add attribute run jsonb;
alter table weir.tasks add column plan boolean, add column run jsonb, add column awaits uuid[];
comment on column weir.tasks.plan is 'True: it has yet to be planned. False: it was. Null: it needs no plan.';
comment on column weir.tasks.awaits is
  'Tasks it was split into (weir.wait_for). Once they have ended, however, it stands at the gate plan again.';
alter table weir.pending add column plan boolean;
comment on column weir.pending.plan is 'It has yet to be planned.';
create index pending_plan on weir.pending (task) where gate = 'plan';

-- What the job is a run of, for whom, and of what it is a part. definition is opaque to the engine.
alter table weir.jobs add column definition uuid, add column schedule text collate "C", add column parent uuid,
  add column origin uuid, add column options jsonb, add column scheduled_at timestamptz;
comment on column weir.jobs.parent is 'The task that waits for this job.';
comment on column weir.jobs.origin is 'The job that this one repeats.';
create index on weir.jobs (parent) where parent is not null;
create index on weir.jobs (origin) where origin is not null;
create index on weir.jobs (definition, id) where definition is not null;
create index on weir.jobs (schedule, id) where schedule is not null;

-- due is set exactly while the job is queued: it has no tasks yet, and gets them then. note says what else it waits
-- for.
-- parent is set while that task waits for the job.
alter table weir.job_live add column due timestamptz, add column note text, add column definition uuid,
  add column schedule text collate "C", add column parent uuid;
create index job_live_due on weir.job_live (due) where due is not null;
create index job_live_queued on weir.job_live (job) where due is not null;
create index job_live_definition on weir.job_live (definition) where definition is not null;
create index job_live_schedule on weir.job_live (schedule) where schedule is not null;
create index job_live_parent on weir.job_live (parent) where parent is not null;

-- A definition is never changed: another content is another version.
create table weir.workflows (
  id         uuid primary key,
  name       text collate "C" not null,
  version    int not null check (version > 0),
  active     boolean not null default true,
  definition jsonb not null,
  source     text,
  by         text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (name, version)
);
comment on column weir.workflows.definition is 'The whole definition as JSON.';
comment on column weir.workflows.source is 'As somebody wrote it, with its comments. Null: it came as JSON.';

-- What the builder does about a task that nobody takes: after relax it may run wherever labels says, after fail it
-- ends.
create table weir.patience (
  task   uuid primary key,
  relax  interval,
  labels jsonb,
  fail   interval
);

-- Objects in a bucket that belong to a task. Upload first, then record.
create table weir.artifacts (
  id           bigint generated always as identity primary key,
  job          uuid,
  task         uuid not null,
  attempt      smallint not null,
  kind         text not null check (kind in ('input', 'output', 'log')),
  name         text not null,
  bucket       text not null,
  key          text not null,
  size         bigint not null check (size >= 0),
  content_type text not null,
  sha256       text,
  at           timestamptz not null,
  unique (task, attempt, kind, name)
);
create index on weir.artifacts (job) where job is not null;

-- Sealed by the server's key, which is not here.
create table weir.secrets (
  name       text collate "C" primary key check (name ~ '^[A-Za-z_][A-Za-z0-9_]{0,99}$'),
  sealed     bytea not null,
  key_id     text not null,
  version    int not null default 1,
  by         text,
  note       text,
  created_at timestamptz not null,
  changed_at timestamptz not null
);

-- How a node that sleeps is woken. asleep and waking are states that somebody set; whether it is awake, its heartbeat
-- says.
alter table weir.nodes
  add column wake_method text check (wake_method in ('wol', 'http', 'script')),
  add column wake jsonb,
  add column wake_state text not null default 'unknown' check (wake_state in ('unknown', 'awake', 'waking', 'asleep')),
  add column wake_at timestamptz,
  add column wake_tries int not null default 0,
  add column wake_note text,
  add column sleep_after interval,
  add column busy_at timestamptz,
  add column version text,
  add column drivers text[];

alter table weir.schedules alter column task drop not null;
alter table weir.schedules
  add column workflow text collate "C",
  add column options jsonb,
  add column overlap text not null default 'allow' check (overlap in ('skip', 'queue_one', 'queue_all',
      'cancel_running', 'allow')),
  add column catch_up interval check (catch_up > interval '0'),
  add column jitter interval check (jitter >= interval '0'),
  add column last_job uuid,
  add constraint schedules_what check ((task is null) <> (workflow is null));
comment on column weir.schedules.catch_up is
  'Runs missed longer ago than this are gone, whatever missed says. Null: no limit.';
