-- The names and words of the device queue that Weir took over, for runners and dashboards that were written for it. Its
-- views are views/fleet_*.sql; its functions are functions/*_task_device*.sql.
-- +goose Up

create schema if not exists fleet;
