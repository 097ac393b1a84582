-- A job whole, with its state and how far it is.
create or replace view weir.job as
select j.id,
  case when f.job is not null then f.outcome::text when l.cancel_at is not null then 'canceling'
    when l.due is not null then 'queued' else 'running' end as state, j.kind, j.name, j.priority::int, j.order_seq,
  j.total, coalesce(l.done, f.done) as done, coalesce(l.failed, f.failed) as failed,
  coalesce(l.canceled, f.canceled) as canceled, coalesce(l.skipped, f.skipped) as skipped,
  coalesce(coalesce(l.done + l.failed + l.canceled + l.skipped, j.total)::float8 / nullif(j.total, 0),
    case when f.job is null then 0 else 1 end) as progress, coalesce(l.cause, f.cause) as cause, j.params, j.created_at,
  f.at as finished_at, j.trace, j.scheduled_at, l.due, l.note, j.definition, j.schedule, j.parent, j.origin, j.options
from weir.jobs j left join weir.job_live l on l.job = j.id left join weir.job_finished f on f.job = j.id;
comment on view weir.job is 'Every job with its state and progress.';
