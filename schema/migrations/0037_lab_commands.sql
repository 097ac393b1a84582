-- Labs: commands before and after each run on a device (docs/decisions/0035).
-- +goose Up

alter table weir.fleet_units add column unclean text;
comment on column weir.fleet_units.unclean is
  'Why the clean-up after its last attempt failed. Null: it did not, or there is none. Its device becomes suspect.';
