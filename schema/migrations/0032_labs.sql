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
