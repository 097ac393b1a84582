-- What people should see to at a PC: it cannot see its devices, or not all of them; its agent has left; it cannot begin
-- what it is given.
-- +goose Up
alter table weir.pcs add column trouble text, add column blind_at timestamptz, add column left_at timestamptz;
comment on column weir.pcs.trouble is 'Why it cannot see its devices, or which of them it had to leave out.';
comment on column weir.pcs.blind_at is
  'Since then it cannot see its devices. What was known of them stands, but they get no work.';
comment on column weir.pcs.left_at is 'Its agent stopped then, and said so.';

alter table weir.fleet_units add column harmless boolean;
comment on column weir.fleet_units.harmless is
  'The last attempt could not be begun: that is a matter of the PC or of the job, and says nothing about the device.';
