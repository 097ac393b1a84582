-- A hold of a rollout is a reason for programs, with its sentence beside it for people (docs/decisions/0024).
-- +goose Up

alter table weir.pending add column hold_reason jsonb;
comment on column weir.pending.hold_reason is
  'Why it is held, as a code with arguments. Null: hold is in the words of the person who holds it.';
alter table weir.rollouts add column reason jsonb;
comment on column weir.rollouts.reason is 'What waits says, as a code with arguments.';
alter table weir.rollout_stages add column reason jsonb;
comment on column weir.rollout_stages.reason is 'What waits says, as a code with arguments.';
