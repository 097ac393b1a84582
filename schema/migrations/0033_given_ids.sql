-- Clients of the schema flow may give a job an id of their own. History is kept by the time in Weir's ids, so the job
-- has one of those, and this table has the id that the client knows (docs/decisions/0032).
-- +goose Up

create table weir.given_ids (
  given uuid primary key,
  job   uuid not null unique
);
comment on table weir.given_ids is 'Jobs whose client gave them an id that is not one of ours. It goes with the job.';
