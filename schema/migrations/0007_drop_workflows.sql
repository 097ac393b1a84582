-- A workflow can be deleted, while the jobs that ran it stay readable: its row is kept for them.
-- +goose Up

alter table weir.workflows add column deleted_at timestamptz;
comment on column weir.workflows.deleted_at is
  'Deleted: only jobs that are pinned to it still read it. Its number is never used again.';
