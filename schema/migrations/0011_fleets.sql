-- Fleets: jobs on devices that hang on PCs. A PC is a node, a fleet job a job of the engine, a run on a device a task
-- of it; what is here is what the engine need not know.
-- +goose Up

-- One lease per device is an index. The column is null for all other work.
alter table weir.running add column device int;
create unique index running_device on weir.running (device) where device is not null;
comment on column weir.running.device is 'The device that the task runs on. Null: it runs on none.';

-- Triggers look at the job of a fleet when it is canceled and when it ends.
alter table weir.job_live add column fleet boolean;
comment on column weir.job_live.fleet is
  'It is a job of the fleet: its tasks are made one by one, when a PC asks for them.';

create table weir.fleet_policy (
  one     boolean primary key default true check (one),
  policy  text not null default 'strict' check (policy in ('strict', 'evidence')),
  health  jsonb,
  overlap boolean not null default false,
  slots   int not null default 20 check (slots between 1 and 1000)
);
insert into weir.fleet_policy default values;
comment on table weir.fleet_policy is 'What holds for all of the fleet. One row.';
comment on column weir.fleet_policy.policy is
  'strict: a run that failed for good puts its device out. evidence: failures of two jobs do, or a failed health task.';
comment on column weir.fleet_policy.health is
  'The health task: run, as a fleet job has it, and timeout. Null: there is none, and a device that nobody knows is '
  'taken as good.';
comment on column weir.fleet_policy.overlap is
  'A device that the active job does not need any more may serve the next one.';
comment on column weir.fleet_policy.slots is
  'How many devices of a PC work at once, unless the PC or a person says otherwise.';

-- A PC is a node that has reported devices.
create table weir.pcs (
  node           int primary key references weir.nodes on delete cascade,
  slots          int check (slots between 0 and 1000),
  reported_slots int check (reported_slots between 1 and 1000),
  reported_at    timestamptz not null,
  paused_until   timestamptz,
  pause_note     text
) with (fillfactor = 50);
comment on column weir.pcs.slots is 'As a person set it. Null: as the PC reports, or else as the policy says.';
comment on column weir.pcs.paused_until is 'It lost many devices at once, and gets no work until then.';

-- Two axes: whether it is there (online), and whether it is well (health). Neither follows from the other.
create table weir.devices (
  id            int generated always as identity primary key,
  serial        text collate "C" not null unique,
  node          int references weir.nodes on delete set null,
  hub           text,
  target        text,
  labels        jsonb not null default '{}',
  online        boolean not null,
  online_at     timestamptz not null,
  missing_at    timestamptz,
  health        text not null default 'unknown' check (health in ('good', 'unknown', 'suspect', 'quarantined',
      'maintenance', 'retired')),
  health_at     timestamptz not null,
  health_note   text,
  health_by     text,
  health_job    uuid,
  evidence      uuid[] not null default '{}',
  checks        smallint not null default 0,
  check_at      timestamptz,
  registered_at timestamptz not null
) with (fillfactor = 70);
create index devices_node on weir.devices (node);
create index devices_missing on weir.devices (missing_at) where missing_at is not null;
comment on column weir.devices.online is 'It is there, or was 30 s ago. online_at: since when it is so.';
comment on column weir.devices.missing_at is
  'It is absent from the reports of its PC since then. Set only while online.';
comment on column weir.devices.health_job is
  'The fleet job that made it suspect or put it out. Null: a person or a health task did.';
comment on column weir.devices.evidence is 'The tasks that failed on it and speak against it.';
comment on column weir.devices.checks is 'Health tasks that failed since it was put out.';
comment on column weir.devices.check_at is 'When its next health task is due. Null: none is; a person decides.';

create table weir.fleet_jobs (
  job            uuid primary key,
  order_seq      bigint not null,
  priority       smallint not null,
  state          text not null default 'waiting' check (state in ('waiting', 'active', 'ended')),
  spec           jsonb not null,
  by             text,
  max_attempts   smallint not null,
  timeout        interval not null,
  backoff        interval not null,
  infra_attempts smallint not null,
  place          text not null check (place in ('same', 'other_device', 'other_pc')),
  breaker        int not null,
  linger         interval not null,
  joins          boolean not null,
  created_at     timestamptz not null,
  planned_at     timestamptz,
  activated_at   timestamptz,
  ended_at       timestamptz,
  lingers_at     timestamptz,
  targeted       int not null default 0,
  missed         int not null default 0,
  stopped        text
) with (fillfactor = 50);
-- At most one is active. Who makes a second one is refused here, whatever he believed.
create unique index fleet_active on weir.fleet_jobs ((true)) where state = 'active';
create index fleet_jobs_waiting on weir.fleet_jobs (priority desc, order_seq) where state = 'waiting';
create index fleet_jobs_created on weir.fleet_jobs (created_at);
comment on column weir.fleet_jobs.spec is
  'The job as it was submitted: a snapshot. What the engine needs of it is in the columns.';
comment on column weir.fleet_jobs.planned_at is 'Its units exist. With overlap that may be before it is active.';
comment on column weir.fleet_jobs.lingers_at is
  'Since when nothing of it runs or could: once that is so for as long as it lingers, what is left is missed.';
comment on column weir.fleet_jobs.stopped is 'Why it was stopped as bad. Null: it was not.';

-- What a job wants: one unit per device and round, or so many that any device may serve. A unit has a task from its
-- first claim on.
create table weir.fleet_units (
  job      uuid not null,
  unit     int not null,
  device   int,
  round    smallint not null,
  state    text not null default 'waiting' check (state in ('waiting', 'running', 'retrying', 'done', 'failed',
      'missed', 'canceled')),
  task     uuid,
  excluded int[] not null default '{}',
  infra    smallint not null default 0,
  good     boolean,
  cause    text,
  primary key (job, unit),
  check ((state in ('running', 'retrying', 'done', 'failed')) <= (task is not null))
) with (fillfactor = 70);
create unique index fleet_units_task on weir.fleet_units (task) where task is not null;
create index fleet_units_waiting on weir.fleet_units (device, job, unit) where state = 'waiting';
create index fleet_units_retrying on weir.fleet_units (device) where state = 'retrying';
create index fleet_units_open on weir.fleet_units (job, unit) where device is null and state in ('waiting', 'retrying');
create index fleet_units_live on weir.fleet_units (job, state) where state in ('waiting', 'running', 'retrying');
create index fleet_units_failed on weir.fleet_units (job) where state = 'failed';
create index fleet_units_device on weir.fleet_units (device, job) where device is not null;
comment on column weir.fleet_units.device is
  'The device that it is for, or that serves it. Null: any device of the target that is not excluded may.';
comment on column weir.fleet_units.infra is
  'Attempts that the infrastructure broke. They spend no attempt of the task.';
comment on column weir.fleet_units.good is 'It failed, and its device was not known to be bad before.';

-- +goose StatementBegin
-- Their bodies are in schema/functions; a trigger needs a function to be there.
create function weir._device_freed() returns trigger language plpgsql as $$ begin return null; end $$;
-- +goose StatementEnd
-- +goose StatementBegin
create function weir._fleet_counted() returns trigger language plpgsql as $$ begin return null; end $$;
-- +goose StatementEnd
-- +goose StatementBegin
create function weir._fleet_closed() returns trigger language plpgsql as $$ begin return null; end $$;
-- +goose StatementEnd
-- Deferred: at commit the trigger sees what became of the task, whichever way its lease ended. Other work pays for the
-- condition alone.
create constraint trigger device_freed after delete on weir.running deferrable initially deferred for each row
  when (old.device is not null) execute function weir._device_freed();
create constraint trigger fleet_counted after update on weir.job_live deferrable initially deferred for each row
  when (new.fleet
    and ((new.canceled, new.skipped) is distinct from (old.canceled, old.skipped)
      or new.cancel_at is not null and old.cancel_at is null))
  execute function weir._fleet_counted();
create constraint trigger fleet_closed after delete on weir.job_live deferrable initially deferred for each row
  when (old.fleet) execute function weir._fleet_closed();
