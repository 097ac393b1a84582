-- One error stops one row, one slow caller nobody (docs/decisions/0014), and work on long lanes and chains grows with
-- what it does.
-- +goose Up

-- A task that a pass of weir.tend could not move: the others went on. It is tried again at next_at, and later each
-- time.
create table weir.set_aside (
  task     uuid primary key,
  doing    text not null check (doing in ('expire', 'due', 'open', 'settle')),
  error    text not null,
  since    timestamptz not null,
  tries    int not null,
  next_at  timestamptz not null
);

-- Lanes and pools that somebody left to the next pass of weir.tend: another transaction had their lock (busy), they
-- could not be opened (error), or there was more to open than one transaction should. No key and no unique index: two
-- who leave the same key must not wait for each other.
create table weir.left_keys (
  lane  boolean not null,
  key   text collate "C" not null,
  at    timestamptz not null,
  busy  boolean not null,
  error text
);
comment on column weir.left_keys.lane is 'True: a lane. False: a pool.';

-- Tasks that ended, whose dependents have yet to hear of it: a chain is followed so many steps in one transaction.
-- Their edges are still there.
create table weir.unsettled (
  task uuid primary key,
  job  uuid not null,
  at   timestamptz not null
);

-- Order and exclusion of what may start are known without a look at its task. The ninth column and those after it cost
-- eight bytes a row together.
alter table weir.available add column rank bigint, add column exclusive boolean;
update weir.available a set rank = q.rank, exclusive = coalesce(q.exclusive, false) from weir.tasks q
where a.lane is not null and q.id = a.task;
drop index weir.available_lane, weir.running_lane;
create index available_lane on weir.available (lane, rank) where lane is not null;
create index running_lane on weir.running (lane, rank) where lane is not null;
