-- Tasks that end a job, however it ended: see docs/decisions/0028.
-- +goose Up

alter type weir.rule add value 'finally';
-- What ends a job runs again when a part of the job does.
insert into weir.transition (was, event, becomes) values ('done', 'retried', 'pending');
alter table weir.job_live add column stop_at timestamptz;
comment on column weir.job_live.stop_at is
  'When the job was canceled once more: from then on its tasks of rule finally are canceled too.';
