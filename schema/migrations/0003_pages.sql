-- What faces need beside the engine: counts per minute, and indexes for lists. Nothing here is written or read by a
-- move of a task.
-- +goose Up

-- What happened in each minute, added up from the timeline by weir.tally. Kept for eight days.
create table weir.minutes (
  at        timestamptz primary key,
  submitted bigint not null default 0,
  started   bigint not null default 0,
  done      bigint not null default 0,
  failed    bigint not null default 0,
  canceled  bigint not null default 0,
  expired   bigint not null default 0,
  refused   bigint not null default 0,
  wait_p50  real,
  wait_p95  real,
  run_p50   real,
  run_p95   real,
  waits     real[] not null default '{}',
  runs      real[] not null default '{}'
) with (fillfactor = 70);
comment on column weir.minutes.waits is
  'Seconds from when a task might start until it did, of a sample of those that started in this minute. wait_p50 and '
  'wait_p95 are of these.';
comment on column weir.minutes.runs is
  'Seconds from start to end, of a sample of those that ended in this minute. run_p50 and run_p95 are of these.';

-- How far the timeline is added up. What happened before this table was made is not counted.
create table weir.tallied (
  one boolean primary key default true check (one),
  xid bigint not null,
  seq bigint not null
);
insert into weir.tallied (xid, seq)
values (pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1, 9223372036854775807);

-- A job is one row for many tasks, so its lists may have indexes of their own; those of tasks have none but the
-- engine's.
create index on weir.jobs (kind, id);
create index on weir.jobs ((left(name, 200) collate "C"), id);
create index on weir.job_finished (outcome, job) where outcome <> 'done';

-- What went wrong. Events of level info, all those of the hot path among them, have none and are not in it.
create index on weir.events (level, xid, seq) where level is not null;
