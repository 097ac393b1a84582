-- Labs: a person reserves a device until a time, and maintenance may end by itself (docs/decisions/0031).
-- +goose Up

alter table weir.devices add column health_until timestamptz, add column reserved_by text,
  add column reserved_at timestamptz, add column reserved_until timestamptz, add column reserved_note text,
  add constraint devices_reserved check ((reserved_by is null) = (reserved_until is null)
    and (reserved_by is null) = (reserved_at is null));
create index devices_reserved_until on weir.devices (reserved_until) where reserved_until is not null;
create index devices_health_until on weir.devices (health_until) where health_until is not null;
comment on column weir.devices.health_until is
  'When its maintenance ends by itself: weir.fleet_tend releases it. Null: a person does.';
comment on column weir.devices.reserved_by is
  'The person who has the device for himself. Null: it is not reserved. While it is set, the device gets no work.';
comment on column weir.devices.reserved_until is 'When the reservation ends by itself: weir.fleet_tend ends it.';

-- Reports of tests that runs of fleet jobs left as artifacts: read once by the leader, so that a table of all devices
-- opens no files.
create table weir.test_reports (
  artifact bigint primary key references weir.artifacts on delete cascade,
  job      uuid not null,
  task     uuid not null,
  attempt  smallint not null,
  due      timestamptz,
  tries    smallint not null default 0,
  tests    int not null default 0,
  failures int not null default 0,
  errors   int not null default 0,
  skipped  int not null default 0,
  seconds  float8 not null default 0,
  failed   jsonb not null default '[]',
  fault    text
);
create index test_reports_due on weir.test_reports (due) where due is not null;
create index test_reports_task on weir.test_reports (task);
create index test_reports_job on weir.test_reports (job);
comment on table weir.test_reports is 'What the JUnit files of fleet jobs say.';
comment on column weir.test_reports.due is 'When it is read, or tried again. Null: it was read.';
comment on column weir.test_reports.failed is 'The first cases that failed: suite, name, kind and message of each.';
comment on column weir.test_reports.fault is 'Why it could not be read.';

-- +goose StatementBegin
-- Its body is in schema/functions; a trigger needs a function to be there.
create function weir._test_report_found() returns trigger language plpgsql as $$ begin return null; end $$;
-- +goose StatementEnd
create trigger test_report_found after insert or update on weir.artifacts for each row
  when (new.kind = 'output' and new.job is not null and new.name ~ '(^|/)(junit|TEST-)[^/]*\.xml$')
  execute function weir._test_report_found();
