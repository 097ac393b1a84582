-- What a held task asks for: the decision of certain people, or an event from outside, until a time. Signals are events
-- that came, also before a task waits for them.
-- +goose Up

create table weir.asks (
  task     uuid primary key,
  job      uuid not null,
  event    text collate "C",
  deciders text[],
  expires  interval check (expires > interval '0'),
  late     text not null default 'fail' check (late in ('fail', 'release')),
  open     boolean not null default true
);
comment on column weir.asks.event is 'The event that ends the task. Null: a person decides.';
comment on column weir.asks.deciders is
  'Names of users, and role:NAME for each role, of whom one may decide. Null: each user who may release a task.';
comment on column weir.asks.expires is 'How long it stands at the gate hold; then late says what happens.';
comment on column weir.asks.open is 'Nothing was decided yet. A task that lives again asks again.';
create index asks_event on weir.asks (job, event) where event is not null;
create index asks_open on weir.asks (task) where open;

create table weir.signals (
  job     uuid not null,
  event   text collate "C" not null,
  payload jsonb,
  by      text,
  at      timestamptz not null,
  primary key (job, event)
);
