-- Which cluster the timeline was written in. Transaction ids mean something in one cluster only, so a database that
-- finds itself in another one says so once (weir.adopt_restore), by the identity of the cluster and not by comparing
-- ids beside writers (docs/decisions/0013).
-- +goose Up
create table weir.cluster (
  one       boolean primary key default true check (one),
  identity  bigint,
  since_xid bigint not null default 0,
  since_seq bigint not null default 0
);
insert into weir.cluster (identity) values (null);
comment on table weir.cluster is 'The cluster that the transaction ids of the timeline belong to.';
comment on column weir.cluster.identity is 'The system identifier of the cluster. Null: not noted yet.';
comment on column weir.cluster.since_xid is
  'What was written before the database came to this cluster has this transaction id, or a lower one. 0: it was made '
  'here.';
comment on column weir.cluster.since_seq is
  'What was written here has a higher number. A cursor behind since_xid with a lower one is of another cluster.';

-- When tasks of pools with a rate were started, one row per claim. Only what is younger than the pool's interval
-- counts; weir._open_pools tidies up.
create table weir.starts (
  pool text collate "C" not null,
  at   timestamptz not null,
  n    int not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
create index starts_pool on weir.starts (pool, at);
comment on table weir.starts is 'Starts of tasks in pools that have a rate.';
alter table weir.pools drop column next_at;
