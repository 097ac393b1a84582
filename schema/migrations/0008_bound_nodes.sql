-- What a node that joins may be is said by who lets it in, not by the machine.
-- +goose Up

alter table weir.joins add column labels jsonb, add column services jsonb;
alter table weir.node_credentials add column labels jsonb, add column services jsonb;
comment on column weir.joins.labels is 'The labels that the node gets. Null: it says itself which it has.';
comment on column weir.joins.services is
  'The services that the node may do, with the most slots of each. Null: it says itself.';
comment on column weir.node_credentials.labels is
  'The labels that the node has, whatever it says. Null: those it says.';
comment on column weir.node_credentials.services is
  'The services that the node may do, with the most slots of each. Null: those it says.';

-- A worker is one process at a time. Who it is, it says itself: the same after a restart, another in another place.
alter table weir.workers add column holder text;
comment on column weir.workers.holder is 'Which process is the worker. Null: it did not say.';
