-- What a run says while it waits, what a failed one leaves applied, and whose changes a difference of schemas shows.
-- +goose Up
alter table weir.rollout_runs add column says text, add column says_since timestamptz, add column stays text;
comment on column weir.rollout_runs.says is
  'What a run that goes on waits for, in its own words; null: nothing. says_since: since when it waits.';
comment on column weir.rollout_runs.stays is
  'What of a run that ended badly is applied and stays. Null: nothing, or nobody knows.';

alter table weir.snapshots add column mixed text;
comment on column weir.snapshots.mixed is
  'Why the difference to a database that drifted may show changes of rollouts, too. Null: it does not.';
comment on column weir.snapshots.drifted is 'Somebody found another schema: a person must accept the new one.';
