-- The engine's tables. A state is a table; a transition moves a row (docs/decisions/0001).
-- +goose Up

create type weir.state as enum ('pending', 'available', 'running', 'done', 'failed', 'canceled', 'skipped');
comment on type weir.state is 'Where a task is. The last four are terminal.';

create type weir.gate as enum ('needs', 'time', 'hold', 'lane', 'pool');
comment on type weir.gate is 'What a pending task stands at, in the order it passes them.';

create type weir.rule as enum ('all_success', 'all_done', 'one_failed');
comment on type weir.rule is 'When a task with needs may go on.';

-- The state machine, whole. Functions move rows along these lines only; the event's type names the move.
create table weir.transition (
  was     weir.state,
  event   text not null,
  becomes weir.state not null,
  unique nulls not distinct (was, event)
);
insert into weir.transition (was, event, becomes) values
  (null,        'submitted', 'available'),
  (null,        'gated',     'pending'),
  ('pending',   'opened',    'available'),
  ('pending',   'held',      'pending'),
  ('pending',   'canceled',  'canceled'),
  ('pending',   'skipped',   'skipped'),
  ('available', 'claimed',   'running'),
  ('available', 'held',      'pending'),
  ('available', 'canceled',  'canceled'),
  ('available', 'skipped',   'skipped'),
  ('running',   'done',      'done'),
  ('running',   'failed',    'failed'),
  ('running',   'retrying',  'pending'),
  ('running',   'snoozed',   'pending'),
  ('running',   'expired',   'available'),
  ('running',   'returned',  'available'),
  ('running',   'canceled',  'canceled'),
  ('failed',    'retried',   'pending'),
  ('failed',    'skipped',   'skipped'),
  ('canceled',  'retried',   'pending'),
  ('skipped',   'retried',   'pending');
comment on table weir.transition is
  'The state machine. An event type leads to one state wherever it starts, so the last event of a task is its state.';

-- A class is what a worker can be asked for: a service, the labels it needs, a priority.
-- Tasks that enter available in the order they were submitted use id; tasks that come back or come late use -id.
-- floor is the lowest order_seq that can still be live under id, so that a claim never walks over dead rows (see
-- weir.tend).
create table weir.classes (
  id       int generated always as identity primary key,
  service  text collate "C" not null,
  priority smallint not null,
  labels   jsonb not null,
  floor    bigint not null default 0,
  unique (service, priority, labels)
) with (fillfactor = 50);

-- One task as a caller describes it: the fields of the JSON that weir.submit_many and weir.submit_job take.
create type weir.task_spec as (
  service         text,
  params          jsonb,
  key             text,
  needs           text[],
  rule            weir.rule,
  priority        int,
  labels          jsonb,
  run_at          timestamptz,
  hold            text,
  lane            text,
  rank            bigint,
  exclusive       boolean,
  pool            text,
  max_attempts    int,
  timeout         interval,
  backoff         interval,
  backoff_cap     interval,
  orphan          text,
  idempotency_key text,
  unique_key      text,
  trace           text
);

create sequence weir.order_seq;
create sequence weir.event_seq;

-- What was asked. Written once; only a change of priority touches class. The time it was asked is in its id
-- (weir._id_time).
create table weir.tasks (
  id           uuid not null,
  order_seq    bigint not null,
  class        int not null,
  position     smallint not null,
  max_attempts smallint,
  job          uuid,
  key          text collate "C",
  params       jsonb not null,
  run_at       timestamptz,
  hold         text,
  lane         text collate "C",
  rank         bigint,
  exclusive    boolean,
  pool         text collate "C",
  timeout      interval,
  backoff      interval,
  backoff_cap  interval,
  orphan_stops boolean,
  rule         weir.rule,
  needs        uuid[],
  unique_key   text collate "C",
  trace        text
) partition by range (id);
alter table weir.tasks add primary key (id);
create index on weir.tasks (job, position) where job is not null;

-- Waits. A pending task stands at exactly one gate: the cause of waiting is a column.
create table weir.pending (
  task      uuid primary key,
  order_seq bigint not null,
  class     int not null,
  position  smallint not null,
  priority  smallint not null,
  attempt   smallint not null,
  gate      weir.gate not null,
  since     timestamptz not null,
  unmet     int not null default 0,
  broken    boolean not null default false,
  rule      weir.rule,
  run_at    timestamptz,
  hold      text,
  lane      text collate "C",
  rank      bigint,
  exclusive boolean,
  pool      text collate "C",
  job       uuid
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);
comment on column weir.pending.unmet is 'Needs that have not ended: equals the rows of weir.edges for this task.';
comment on column weir.pending.broken is 'A need ended otherwise than done.';
create index pending_time on weir.pending (run_at) where gate = 'time';
create index pending_lane on weir.pending (lane, rank, priority desc, order_seq, position) where gate = 'lane';
create index pending_pool on weir.pending (pool, priority desc, order_seq, position) where gate = 'pool';
create index pending_held_lane on weir.pending (lane) where gate = 'pool' and lane is not null;
create index pending_rank on weir.pending (lane, rank) where rank is not null;

-- May start. The primary key is the claim order: order_seq is one per job or task without a job, position one per task
-- of a job.
-- A row here holds its lane and its place in the pool. Eight columns: a ninth would cost eight bytes a row where some
-- are null.
create table weir.available (
  order_seq bigint not null,
  task      uuid not null,
  class     int not null,
  position  smallint not null,
  attempt   smallint not null,
  opened_at timestamptz,
  lane      text collate "C",
  pool      text collate "C",
  primary key (class, order_seq, position)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
create index available_lane on weir.available (lane) where lane is not null;
create index available_pool on weir.available (pool) where pool is not null;

-- Leases. until is set exactly while the task is here: expiry trusts it, so a row without it would never be freed.
create table weir.running (
  task         uuid primary key,
  token        uuid not null,
  claimed_at   timestamptz not null,
  until        timestamptz not null,
  worker       int not null,
  attempt      smallint not null,
  keyed        boolean,
  exclusive    boolean,
  orphan_stops boolean,
  started      boolean,
  deadline     timestamptz,
  opened_at    timestamptz,
  node         int,
  class        int,
  job          uuid,
  lane         text collate "C",
  rank         bigint,
  pool         text collate "C",
  cancel_at    timestamptz,
  cancel_note  text
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_cost_delay = 0);
comment on column weir.running.class is 'Set with node: what counts against its capacity.';
create index running_lane on weir.running (lane) where lane is not null;
create index running_pool on weir.running (pool) where pool is not null;
create index running_node on weir.running (node) where node is not null;

-- How it ended. cause says why it is not done: the error, who cancelled it, why it was skipped.
create table weir.finished (
  task       uuid not null,
  at         timestamptz not null,
  started_at timestamptz,
  worker     int,
  attempt    smallint not null,
  outcome    weir.state not null check (outcome in ('done', 'failed', 'canceled', 'skipped')),
  passes     boolean,
  opened_at  timestamptz,
  result     jsonb,
  cause      text
) partition by range (task);
alter table weir.finished add primary key (task);
create index on weir.finished (outcome, task) where outcome <> 'done';
comment on column weir.finished.passes is 'A person skipped it and said: go on as if it were done.';

-- Leases that spent no attempt: crashes of the worker, and returns (drain, shutdown, snooze). Rare, so beside the hot
-- path.
create table weir.forgiven (
  task    uuid primary key,
  crashes int not null default 0,
  returns int not null default 0
);

-- The timeline. Moves of the hot path are one row for a whole batch (tasks), all else one row each (task).
-- The time in id, opened_at, started_at and at of a task equals the at of its batch rows: that is how they are found
-- (weir.task_events).
create table weir.events (
  seq     bigint not null default nextval('weir.event_seq'),
  xid     bigint not null default (pg_current_xact_id()::text::bigint),
  at      timestamptz not null,
  worker  int,
  attempt smallint,
  type    text not null,
  kind    text,
  subject text,
  job     uuid,
  task    uuid,
  tasks   uuid[],
  source  text,
  level   text,
  message text,
  data    jsonb
) partition by range (at);
comment on column weir.events.xid is
  'The transaction. A reader follows (xid, seq) below the oldest running one, so that late commits are never missed.';
alter table weir.events alter column tasks set storage external;
create index on weir.events (xid, seq);
create index on weir.events using brin (at) with (pages_per_range = 16, autosummarize = on);
create index on weir.events (task, seq) where task is not null;
create index on weir.events (job, seq) where job is not null;
create index on weir.events (kind, subject, seq) where kind is not null;

-- Dependencies that have not ended. The finish of a need deletes its edges and counts its dependents down.
create table weir.edges (
  need uuid not null,
  task uuid not null,
  primary key (need, task)
);
create index on weir.edges (task);

-- A ranked task that failed blocks the higher ranks of its lane until somebody retries or skips it.
create table weir.lane_blocks (
  lane text collate "C" not null,
  rank bigint not null,
  task uuid not null,
  at   timestamptz not null,
  primary key (lane, rank, task)
);
create index on weir.lane_blocks (task);

create table weir.pools (
  name        text collate "C" primary key,
  size        int check (size >= 0),
  rate        int check (rate > 0),
  per         interval check (per > interval '0'),
  next_at     timestamptz,
  resized_at  timestamptz not null,
  note        text,
  check ((rate is null) = (per is null)),
  check (size is not null or rate is not null)
) with (fillfactor = 50);
comment on column weir.pools.size is 'At most so many tasks available or running. Null: no count limit.';
comment on column weir.pools.next_at is
  'Rate limit by a virtual schedule: up to here it is spent. One more may start per / rate later; what was not used '
  'for longer than per is lost.';

-- Same idempotency key, same answer.
create table weir.idempotency (
  key text collate "C" not null,
  job boolean not null,
  id  uuid not null,
  primary key (key, job)
);

-- At most one live task per (service, key).
create table weir.unique_keys (
  service text collate "C" not null,
  key     text collate "C" not null,
  task    uuid not null,
  primary key (service, key)
);
create index on weir.unique_keys (task);

create table weir.jobs (
  id         uuid not null,
  created_at timestamptz not null,
  order_seq  bigint not null,
  kind       text not null,
  name       text not null,
  priority   smallint not null,
  total      int not null,
  params     jsonb,
  trace      text
) partition by range (id);
alter table weir.jobs add primary key (id);

-- A job that has not ended.
create table weir.job_live (
  job       uuid primary key,
  total     int not null,
  done      int not null default 0,
  failed    int not null default 0,
  canceled  int not null default 0,
  skipped   int not null default 0,
  cause     text,
  cancel_at timestamptz
) with (fillfactor = 50);

create table weir.job_finished (
  job      uuid not null,
  at       timestamptz not null,
  outcome  weir.state not null check (outcome in ('done', 'failed', 'canceled')),
  done     int not null,
  failed   int not null,
  canceled int not null,
  skipped  int not null,
  cause    text
) partition by range (job);
alter table weir.job_finished add primary key (job);

create table weir.nodes (
  id            int generated always as identity primary key,
  name          text collate "C" not null unique,
  labels        jsonb not null default '{}',
  capacity      jsonb not null default '{}',
  mode          text not null default 'active' check (mode in ('active', 'draining', 'paused')),
  note          text,
  mode_at       timestamptz,
  mode_until    timestamptz,
  registered_at timestamptz not null,
  seen_at       timestamptz not null
) with (fillfactor = 50);
comment on column weir.nodes.capacity is 'Slots per service. A service that is not named has no limit of its own.';

create table weir.workers (
  id         int generated always as identity primary key,
  name       text collate "C" not null unique,
  node       int references weir.nodes (id),
  services   text[] not null default '{}',
  labels     jsonb not null default '{}',
  last_claim uuid,
  started_at timestamptz not null,
  seen_at    timestamptz not null,
  stopped_at timestamptz
) with (fillfactor = 50);
comment on column weir.workers.last_claim is
  'The id of the last claim that took something. The same claim again returns the same tasks.';
create index on weir.workers (node) where node is not null;

create table weir.schedules (
  name       text collate "C" primary key,
  spec       text not null,
  zone       text not null default 'UTC',
  missed     text not null default 'one' check (missed in ('skip', 'one', 'all')),
  task       jsonb not null,
  paused     boolean not null default false,
  next_at    timestamptz not null,
  last_at    timestamptz,
  last_task  uuid,
  changed_at timestamptz not null
);
create index on weir.schedules (next_at) where not paused;

create table weir.system_locks (
  lock_name   text primary key,
  holder_id   text not null,
  epoch       bigint not null,
  acquired_at timestamptz not null,
  expires_at  timestamptz not null
);

-- Every order_seq up to order_seq was handed out to a transaction older than xid: once xid is past, none of them can
-- still appear.
create table weir.horizon (
  one       boolean primary key default true check (one),
  xid       bigint not null,
  order_seq bigint not null
);
insert into weir.horizon (xid, order_seq) values (0, 0);

-- Partitions of the timeline that were written elsewhere and may be dropped.
create table weir.exports (
  partition   text primary key,
  location    text not null,
  rows        bigint not null,
  exported_at timestamptz not null
);

-- Rows outside every range land here; no vacuum is due for rows that were only inserted, for they are dropped with
-- their range.
-- weir.ensure_partitions moves them when it makes the range.
create table weir.tasks_default partition of weir.tasks default with (autovacuum_vacuum_insert_threshold = -1);
create table weir.finished_default partition of weir.finished default with (autovacuum_vacuum_insert_threshold = -1);
create table weir.events_default partition of weir.events default with (autovacuum_vacuum_insert_threshold = -1);
create table weir.jobs_default partition of weir.jobs default with (autovacuum_vacuum_insert_threshold = -1);
create table weir.job_finished_default partition of weir.job_finished default with
  (autovacuum_vacuum_insert_threshold = -1);

-- +goose StatementBegin
do $$
declare r text;
begin
  foreach r in array array['weir_client', 'weir_worker'] loop
    begin
      if not exists (select from pg_roles where rolname = r) then
        execute format('create role %I nologin', r);
      end if;
    exception
      when duplicate_object or unique_violation then null;
      when insufficient_privilege then
        raise exception 'role % does not exist and % may not create it', r, current_user
          using hint = format('ask an administrator to run: create role %I nologin', r);
    end;
  end loop;
end $$;
-- +goose StatementEnd
