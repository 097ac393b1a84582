-- Rollouts: changes of databases, in stages. A rollout is a job, and its tasks are tasks of the engine; what is here is
-- what the engine need not know.
-- +goose Up

-- A trigger on weir.job_live may look at such a job whenever tasks of it were counted, in the same transaction, before
-- the keys they freed are opened.
alter table weir.jobs add column watched boolean;
alter table weir.job_live add column watched boolean;
create index job_live_watched on weir.job_live (job) where watched;
comment on column weir.jobs.watched is
  'Somebody looks at the job whenever tasks of it have ended, by a trigger on weir.job_live.';

create table weir.databases (
  name         text collate "C" primary key,
  engine       text not null check (engine in ('postgres', 'mysql')),
  environment  text collate "C" not null,
  labels       jsonb not null default '{}',
  secret       text not null,
  note         text,
  identity     text,
  server       text,
  version      text,
  version_rank bigint,
  checked_at   timestamptz,
  fault        text,
  by           text,
  created_at   timestamptz not null,
  changed_at   timestamptz not null
) with (fillfactor = 70);
comment on table weir.databases is 'Databases that rollouts change. The address is a secret of that name.';
comment on column weir.databases.identity is
  'Which database it is, whatever its address is called. Null: nobody has reached it yet.';
comment on column weir.databases.version is 'The newest applied version, as far as known.';

-- The text of a change under its checksum: two rollouts of one file share it, and nobody can change it.
create table weir.changes (
  checksum text collate "C" primary key,
  sql      text not null
);

create table weir.rollouts (
  job         uuid primary key,
  plan        jsonb not null,
  hash        text not null,
  revision    int not null,
  replaces    uuid,
  replaced_by uuid,
  warnings    jsonb not null,
  note        text,
  by          text,
  created_at  timestamptz not null,
  started_at  timestamptz,
  started_by  text,
  paused_at   timestamptz,
  paused_by   text,
  pause_note  text,
  aborted_at  timestamptz,
  aborted_by  text,
  abort_note  text,
  state       text not null default 'not_started' check (state in ('not_started', 'running', 'waiting', 'paused',
      'failed', 'done', 'canceled')),
  waits       text,
  look_at     int not null default 0
) with (fillfactor = 50);
comment on column weir.rollouts.plan is
  'The frozen plan: stages with their databases as they were, and changes by checksum. hash is that of its text.';
comment on column weir.rollouts.state is 'As weir._rollout_settle last saw it, while the job lives.';
comment on column weir.rollouts.look_at is
  'Nothing that holds depend on can change before so many tasks have ended, unless one ends badly.';

create table weir.rollout_stages (
  rollout      uuid not null references weir.rollouts on delete cascade,
  n            smallint not null,
  name         text not null,
  environment  text,
  databases    int not null,
  approvals    int not null,
  manual       boolean not null,
  on_failure   text not null check (on_failure in ('stop', 'continue', 'at_most')),
  max_failures int not null,
  canary       int not null,
  promoted_at  timestamptz,
  promoted_by  text,
  begun_at     timestamptz,
  state        text not null default 'not_started',
  waits        text,
  primary key (rollout, n),
  unique (rollout, name)
) with (fillfactor = 50);
comment on column weir.rollout_stages.begun_at is
  'All that people had to say first was said: from here on its approvals stand.';

-- A yes to a stage of a plan. It counts for the plan of that hash alone.
create table weir.rollout_approvals (
  rollout uuid not null references weir.rollouts on delete cascade,
  stage   smallint not null,
  by      text not null,
  hash    text not null,
  note    text,
  at      timestamptz not null,
  primary key (rollout, stage, by)
);

create table weir.rollout_tasks (
  task     uuid primary key,
  rollout  uuid not null references weir.rollouts on delete cascade,
  stage    smallint not null,
  database text collate "C" not null,
  change   smallint not null,
  version  text,
  name     text not null,
  kind     text not null,
  canary   boolean not null
);
create index on weir.rollout_tasks (rollout, stage, task);
create index on weir.rollout_tasks (database, rollout);
comment on column weir.rollout_tasks.change is 'The place of the change in the plan, from 0 on.';

-- How far an attempt came. The executor writes the phase before it acts, so whoever finds it dead knows the most it can
-- have done.
-- code is null until the attempt is known to have failed: an attempt that ended badly without one was lost.
create table weir.rollout_runs (
  task        uuid not null references weir.rollout_tasks on delete cascade,
  attempt     smallint not null,
  token       uuid not null,
  worker      text,
  phase       text not null check (phase in ('claimed', 'locked', 'sent', 'applied')),
  claimed_at  timestamptz not null,
  ended_at    timestamptz,
  unknown     boolean not null default false,
  code        text,
  note        text,
  resolved_by text,
  resolved_at timestamptz,
  looks       int not null default 0,
  look_at     timestamptz,
  primary key (task, attempt)
) with (fillfactor = 50);
create index rollout_runs_unknown on weir.rollout_runs (look_at) where unknown;
comment on column weir.rollout_runs.unknown is
  'What was sent may or may not have been applied. look_at: when the resolver looks next.';

-- The schema of a database as it was last accepted: drift is the difference to it.
create table weir.snapshots (
  database text collate "C" primary key references weir.databases on delete cascade,
  at       timestamptz not null,
  hash     text not null,
  text     text not null,
  by       text,
  drifted  boolean not null default false
);
comment on column weir.snapshots.drifted is
  'An executor found another schema before its run: a person must accept the new one.';

-- +goose StatementBegin
-- Its body is schema/functions/_rollout_counted.sql; a trigger needs a function to be there.
create function weir._rollout_counted() returns trigger language plpgsql as $$ begin return null; end $$;
-- +goose StatementEnd
create trigger rollout_counted after update on weir.job_live for each row
  when (new.watched
    and (new.done, new.failed, new.canceled, new.skipped) is distinct from (old.done, old.failed, old.canceled,
      old.skipped))
  execute function weir._rollout_counted();
