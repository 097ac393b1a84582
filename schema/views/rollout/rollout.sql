-- A rollout with its state. A rollout that lives stands as it was last settled; one that has ended as its job did.
create or replace view weir.rollout as
select r.job as id, j.name,
  case when f.outcome is not null then case when r.aborted_at is not null then 'canceled' else f.outcome::text end
    else r.state end as state,
  case when f.outcome is null or r.aborted_at is not null then r.waits
    when f.outcome <> 'done' then f.cause end as waits, r.hash, r.revision, r.replaces, r.replaced_by,
  coalesce((r.plan ->> 'parallel')::int, 0) as parallel,
  coalesce((r.plan ->> 'out_of_order')::boolean, false) as out_of_order, (r.plan ->> 'run_at')::timestamptz as run_at,
  r.note, r.by, r.created_at, r.started_at, r.started_by, r.paused_at, r.paused_by, r.pause_note, r.aborted_at,
  r.aborted_by, r.abort_note, f.at as finished_at, j.total, r.warnings, r.plan
, case when f.outcome is null or r.aborted_at is not null then r.reason end as reason
from weir.rollouts r join lateral (select j.name, j.total from weir.jobs j where j.id = r.job offset 0) j on true
left join lateral (select f.outcome, f.at, f.cause from weir.job_finished f where f.job = r.job offset 0) f on true;
comment on view weir.rollout is 'Every rollout with its state.';
