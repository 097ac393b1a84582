-- Forwards: a person reaches a port of a device through its PC's agent (docs/decisions/0036).
-- +goose Up

alter table weir.pcs add column forwards int4multirange;
comment on column weir.pcs.forwards is
  'The ports that its agent lets people reach on its devices, as the agent said last. Null: none.';

create table weir.forwards (
  id        uuid primary key,
  device    int not null references weir.devices on delete cascade,
  node      int not null references weir.nodes on delete cascade,
  port      int not null check (port between 1 and 65535),
  person    text not null,
  source    text not null,
  forced    boolean not null default false,
  server    text,
  opened_at timestamptz not null,
  seen_at   timestamptz not null,
  joined_at timestamptz,
  refused   text
);
create index forwards_device on weir.forwards (device);
create index forwards_node on weir.forwards (node);
comment on table weir.forwards is
  'Forwards that are open: one row each, deleted when it ends; the timeline of the device keeps the history.';
comment on column weir.forwards.person is 'Who has it, as weir.devices.reserved_by names a person.';
comment on column weir.forwards.forced is 'It does not ask for a reservation: an admin said so.';
comment on column weir.forwards.server is
  'Where other servers reach the one that carries it. Null: they do not.';
comment on column weir.forwards.seen_at is 'When its server last said that it carries it.';
comment on column weir.forwards.joined_at is 'When the agent took it up.';
comment on column weir.forwards.refused is 'Why the agent did not.';
