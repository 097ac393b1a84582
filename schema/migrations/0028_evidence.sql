-- What a lost worker and a broken node say about a task, and what is broken on which node (docs/decisions/0027).
-- +goose Up

alter table weir.forgiven
  add column strikes int not null default 0,
  add column places int[] not null default '{}',
  add column faults int not null default 0;
comment on column weir.forgiven.strikes is 'Lost leases that are evidence against the task. The third ends it.';
comment on column weir.forgiven.places is
  'Where a lease of the task was lost since strikes began: ids of nodes; negative: of workers without a node.';
comment on column weir.forgiven.faults is 'Returns because the node broke while the work ran.';

alter table weir.nodes add column isolation text collate "C";
comment on column weir.nodes.isolation is
  'How the agent holds the processes of an attempt together. Null: it did not say.';

-- What a node cannot do at present, by service. The agent reports all of it with each heartbeat that brings a change.
create table weir.node_faults (
  node     int not null references weir.nodes on delete cascade,
  service  text collate "C" not null,
  fault    text collate "C" not null,
  message  text not null,
  since    timestamptz not null,
  retry_at timestamptz,
  primary key (node, service)
);
comment on table weir.node_faults is 'Services that a node does not claim because something is broken there.';
comment on column weir.node_faults.fault is 'no_driver, engine_away, disk_full, folder_gone or no_memory.';
comment on column weir.node_faults.retry_at is
  'When the node claims the service again. Null: as soon as what is broken answers.';
