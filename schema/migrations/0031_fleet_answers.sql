-- Fleets judge by one answer (docs/decisions/0030): what a device may still do by itself, and how often it went away.
-- +goose Up

-- One job is active in each lane: jobs on different devices run side by side. A job that names no lane is in the
-- default one, which is the rule of the device queue.
alter table weir.fleet_jobs add column lane text collate "C" not null default 'default';
comment on column weir.fleet_jobs.lane is 'Jobs of one lane are active one after the other.';
drop index weir.fleet_active;
create unique index fleet_active on weir.fleet_jobs (lane) where state = 'active';
create index fleet_jobs_lane on weir.fleet_jobs (lane, priority desc, order_seq) where state = 'waiting';

alter table weir.fleet_jobs add column missed_at timestamptz;
comment on column weir.fleet_jobs.missed_at is
  'When what is left is missed, unless a device comes back before. Set while it lingers.';

-- A lab that begins now asks for evidence before it puts a device out: one red build must not empty it. A fleet that is
-- in use keeps its policy.
alter table weir.fleet_policy alter column policy set default 'evidence';
update weir.fleet_policy set policy = 'evidence' where not exists (select from weir.devices);

alter table weir.devices add column absent_at timestamptz, add column flaps int not null default 0,
  add column flaps_at timestamptz;
comment on column weir.devices.absent_at is
  'When the last absence began that is over. Another loss soon after it is no news, and says nothing about the PC.';
comment on column weir.devices.flaps is 'How often it went away and came back since flaps_at.';
comment on column weir.devices.flaps_at is 'When the hour began in which flaps are counted.';

alter table weir.pcs add column pauses int not null default 0, add column pauses_at timestamptz;
comment on column weir.pcs.pauses is
  'How often it was paused since pauses_at because it lost devices together. Three times in an hour at most.';
comment on column weir.pcs.pauses_at is 'When the hour began in which pauses are counted.';
