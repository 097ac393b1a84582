-- When a leader was last there: leases that held then could not be renewed while no server answered.
-- +goose Up

alter table weir.system_locks add column seen_at timestamptz;
