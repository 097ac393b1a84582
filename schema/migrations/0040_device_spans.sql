-- What devices went through: a span of time per state, for history and utilisation (docs/decisions/0036).
-- +goose Up

create table weir.device_spans (
  device int not null references weir.devices on delete cascade,
  since  timestamptz not null,
  until  timestamptz,
  state  text not null,
  node   int,
  primary key (device, since)
);
create unique index device_spans_open on weir.device_spans (device) where until is null;
create index device_spans_until on weir.device_spans (until) where until is not null;
comment on table weir.device_spans is
  'The states that devices went through: 31 days, and the last 2,000 of each device.';
comment on column weir.device_spans.state is
  'free, offline, reserved, or the health of a device that is out: quarantined, maintenance, retired.';
comment on column weir.device_spans.until is 'Null: it is in that state.';

-- +goose StatementBegin
-- Its body is in schema/functions; a trigger needs a function to be there.
create function weir._device_span() returns trigger language plpgsql as $$ begin return null; end $$;
-- +goose StatementEnd
create trigger device_span_first after insert on weir.devices for each row execute function weir._device_span();
create trigger device_span after update on weir.devices for each row
  when (old.online is distinct from new.online or old.health is distinct from new.health
    or old.node is distinct from new.node or old.reserved_by is null and new.reserved_by is not null)
  execute function weir._device_span();
insert into weir.device_spans (device, since, state, node)
select d.id, now(), case when d.health in ('quarantined', 'maintenance', 'retired') then d.health
  when d.reserved_by is not null then 'reserved' when not d.online then 'offline' else 'free' end, d.node
from weir.devices d;
