-- Who may ask: people, their sessions and tokens, nodes. Nobody but the owner of the schema reads these tables
-- (grants.sql).
-- A secret is never here: hash is its SHA-256, which is enough for 256 random bits, and a password is argon2id.
-- +goose Up

create table weir.users (
  id          uuid primary key,
  name        text collate "C" not null unique check (name ~ '^[a-z0-9][a-z0-9._@+-]{0,63}$'),
  email       text,
  role        text not null check (role in ('viewer', 'operator', 'maintainer', 'admin')),
  password    text check (password like '$argon2id$%'),
  issuer      text,
  subject     text,
  created_at  timestamptz not null,
  login_at    timestamptz,
  disabled_at timestamptz,
  check ((issuer is null) = (subject is null)),
  unique (issuer, subject)
);
comment on column weir.users.password is
  'The PHC string of argon2id. Null: no password, only a link or the identity provider.';
comment on column weir.users.subject is
  'With issuer: who it is at the identity provider. Neither name nor e-mail is, for people choose those.';

-- A session ends at expires_at, or when it was idle too long. seen_at moves at most once a minute, so that a page view
-- is no write.
create table weir.sessions (
  hash       bytea primary key check (length(hash) = 32),
  id         uuid not null unique,
  user_id    uuid not null references weir.users (id) on delete cascade,
  method     text not null check (method in ('password', 'link', 'oidc')),
  created_at timestamptz not null,
  seen_at    timestamptz not null,
  expires_at timestamptz not null,
  address    text,
  agent      text
) with (fillfactor = 70);
create index on weir.sessions (user_id);

create table weir.tokens (
  hash       bytea primary key check (length(hash) = 32),
  id         uuid not null unique,
  user_id    uuid not null references weir.users (id) on delete cascade,
  name       text not null check (length(name) between 1 and 100),
  scopes     text[] not null,
  created_at timestamptz not null,
  used_at    timestamptz,
  expires_at timestamptz not null,
  unique (user_id, name)
) with (fillfactor = 70);

-- A link that logs in once. Without a user it is the set-up link, of which there is one.
create table weir.links (
  hash       bytea primary key check (length(hash) = 32),
  user_id    uuid references weir.users (id) on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create unique index links_setup on weir.links ((user_id is null)) where user_id is null;
create index on weir.links (user_id) where user_id is not null;

-- A token with which one node joins once. A named node may take the place of the one that had the name.
create table weir.joins (
  hash       bytea primary key check (length(hash) = 32),
  id         uuid not null unique,
  node       text,
  made_by    text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);

create table weir.node_credentials (
  node       text primary key,
  hash       bytea not null unique check (length(hash) = 32),
  created_at timestamptz not null,
  used_at    timestamptz
) with (fillfactor = 70);

-- Attempts to log in, per account and per address. key is a hash, for people type passwords where names belong.
create table weir.login_attempts (
  key      bytea primary key check (length(key) = 32),
  failures int not null check (failures >= 0),
  at       timestamptz not null,
  until    timestamptz not null,
  noted    boolean not null default false
) with (fillfactor = 50);
comment on column weir.login_attempts.until is 'Before this, every attempt is refused unseen.';
comment on column weir.login_attempts.noted is 'The timeline was told that this key is refused.';

-- A visit to the identity provider that has not come back. hash is that of its state.
create table weir.oidc_visits (
  hash       bytea primary key check (length(hash) = 32),
  expires_at timestamptz not null
);
