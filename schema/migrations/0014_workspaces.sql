-- Workspaces: a home that is kept, and a container that comes and goes. What is true is what was seen; the rows here
-- are the last look, what people want, and what is under way.
-- +goose Up

-- The limits are counted under this row: there is no start over them.
create table weir.workspace_policy (
  one         boolean primary key default true check (one),
  install     uuid not null default gen_random_uuid(),
  per_user    int not null default 2 check (per_user between 0 and 10000),
  in_all      int not null default 100 check (in_all between 0 and 100000),
  standby_ttl interval not null default '600 s' check (standby_ttl >= '10 s'),
  archive_ttl interval not null default '1800 s' check (archive_ttl >= '10 s'),
  max_life    interval check (max_life >= '1 min'),
  busy_most   interval not null default '12 h' check (busy_most >= '0 s'),
  starts      bigint not null default 0,
  unknown_at  timestamptz,
  unknown_of  text[] not null default '{}',
  unknown     text
);
insert into weir.workspace_policy default values;
comment on table weir.workspace_policy is 'What holds for all workspaces. One row.';
comment on column weir.workspace_policy.install is
  'Tells what is of this installation from what is of another, where both use the same machine.';
comment on column weir.workspace_policy.per_user is 'How many workspaces of a user may run at once.';
comment on column weir.workspace_policy.in_all is 'How many may run at once.';
comment on column weir.workspace_policy.max_life is
  'How long one may run in one piece, whatever is done in it. Null: for ever.';
comment on column weir.workspace_policy.busy_most is 'How long after its last use a workspace may say that it is busy.';
comment on column weir.workspace_policy.starts is
  'Every start that was let in counts here first. So starts follow one another, at any isolation level.';
comment on column weir.workspace_policy.unknown_of is 'Which providers could not be seen, or bucket.';
comment on column weir.workspace_policy.unknown_at is
  'Since then not everything could be seen; unknown says what. What was seen before stands, and nothing is done.';

create table weir.workspaces (
  id                  uuid primary key,
  owner               uuid not null references weir.users (id),
  name                text collate "C" not null check (name ~ '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$'),
  description         text,
  image               text,
  provider            text not null,
  created_at          timestamptz not null,
  -- What people want, and what they do: written by weir.workspace_want and weir.workspace_touch alone.
  desired             text not null check (desired in ('ARCHIVED', 'STANDBY', 'RUNNING', 'DELETED')),
  desired_by          text,
  desired_at          timestamptz not null,
  generation          bigint not null default 1,
  deleted_at          timestamptz,
  last_access_at      timestamptz not null,
  last_activity       text,
  busy_until          timestamptz,
  standby_ttl         interval check (standby_ttl >= '10 s'),
  archive_ttl         interval check (archive_ttl >= '10 s'),
  -- What the controller saw and does: written by it alone, under its epoch.
  conditions          jsonb not null default '{}',
  observed_at         timestamptz,
  observed_generation bigint not null default 0,
  started_generation  bigint not null default 0,
  phase               text not null default 'PENDING' check (phase in ('PENDING', 'ARCHIVED', 'STANDBY', 'RUNNING',
      'ERROR', 'DELETING', 'DELETED')),
  phase_changed_at    timestamptz not null,
  operation           text not null default 'NONE'
    check (operation in ('NONE', 'PROVISIONING', 'RESTORING', 'STARTING', 'STOPPING', 'ARCHIVING',
        'CREATE_EMPTY_ARCHIVE', 'DELETING')),
  op_id               uuid,
  op_started_at       timestamptz,
  op_progress_at      timestamptz,
  op_progress         text,
  op_retry_at         timestamptz,
  archive_op_id       uuid,
  archive_key         text,
  archive_meta        jsonb,
  archive_generation  bigint not null default 0,
  archive_of          bigint,
  volume_generation   bigint not null default 0,
  mounted             bigint not null default 0,
  had_home            boolean not null default false,
  error_reason        text check (error_reason in ('Timeout', 'RetryExceeded', 'ActionFailed', 'DataLost',
      'Unreachable', 'ImagePullFailed', 'ContainerWithoutVolume', 'ArchiveCorrupted')),
  error_message       text,
  error_count         int not null default 0,
  home_ctx            jsonb,
  check ((operation = 'NONE') = (op_id is null)),
  check ((desired = 'DELETED') = (deleted_at is not null))
) with (fillfactor = 70);
create unique index workspaces_name on weir.workspaces (name, owner) where deleted_at is null;
create index workspaces_owner on weir.workspaces (owner, id);
create index workspaces_running on weir.workspaces (owner)
  where deleted_at is null and (phase = 'RUNNING' or desired = 'RUNNING');
create index workspaces_resting on weir.workspaces (id)
  where deleted_at is null and operation = 'NONE' and (phase = 'RUNNING' or phase = 'STANDBY');
create index workspaces_under_way on weir.workspaces (id) where operation <> 'NONE';
create index workspaces_live on weir.workspaces (id) where phase <> 'DELETED' or operation <> 'NONE';
comment on column weir.workspaces.generation is
  'Counts what people wanted. observed_generation: the last one that the controller has acted on.';
comment on column weir.workspaces.started_generation is 'The generation for which it was last started.';
comment on column weir.workspaces.op_progress_at is
  'When the operation was last seen to get on. Time runs out from there, and not from its start.';
comment on column weir.workspaces.archive_op_id is
  'Of the last archive that was begun. It is the same on every try, and its objects are safe from garbage collection.';
comment on column weir.workspaces.volume_generation is
  'Numbers starts and archives, in the order in which they were begun. A volume keeps the number of its last start.';
comment on column weir.workspaces.mounted is 'The number that was last seen on the volume.';
comment on column weir.workspaces.archive_generation is
  'The number of the archive. A volume with a lower one is what the archive was made of, or older; after a higher one '
  'the archive is not the newest state of the home.';
comment on column weir.workspaces.archive_of is
  'The number on the volume that the archive was made of. If the archive has gone and that volume is still there, it '
  'is the home.';
comment on column weir.workspaces.had_home is 'There has been a home: a volume is not made empty in its place.';

-- Every archive that was verified, and every one that nobody needs any more, until it is collected.
create table weir.workspace_archives (
  key          text collate "C" primary key,
  workspace    uuid not null,
  verified_at  timestamptz,
  meta         jsonb,
  orphan_since timestamptz
);
create index workspace_archives_of on weir.workspace_archives (workspace, verified_at desc);
comment on column weir.workspace_archives.orphan_since is
  'Nobody has needed it since then, as far as every look since has seen.';

-- One code opens one workspace for one user on one host, once. It is gone with the session or the token that asked for
-- it.
create table weir.workspace_codes (
  hash       bytea primary key check (length(hash) = 32),
  workspace  uuid not null references weir.workspaces on delete cascade,
  user_id    uuid not null references weir.users (id) on delete cascade,
  role       text not null,
  session    uuid references weir.sessions (id) on delete cascade,
  token      uuid references weir.tokens (id) on delete cascade,
  host       text not null,
  expires_at timestamptz not null
);
create index workspace_codes_end on weir.workspace_codes (expires_at);
comment on column weir.workspace_codes.role is 'That of the user when it was made. With another one it opens nothing.';

-- A browser that is inside a workspace, with a cookie of that host. It is gone with the session or the token that let
-- it in.
create table weir.workspace_visits (
  hash       bytea primary key check (length(hash) = 32),
  workspace  uuid not null references weir.workspaces on delete cascade,
  user_id    uuid not null references weir.users (id) on delete cascade,
  role       text not null,
  session    uuid references weir.sessions (id) on delete cascade,
  token      uuid references weir.tokens (id) on delete cascade,
  host       text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index workspace_visits_end on weir.workspace_visits (expires_at);
create index workspace_visits_session on weir.workspace_visits (session) where session is not null;
create index workspace_visits_token on weir.workspace_visits (token) where token is not null;
create index workspace_visits_user on weir.workspace_visits (user_id);
create index workspace_visits_workspace on weir.workspace_visits (workspace);
comment on column weir.workspace_visits.role is
  'That of the user when they came. With another one they have to come again.';
