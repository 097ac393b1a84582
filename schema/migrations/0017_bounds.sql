-- Values that were taken without bounds and stopped whoever met them later (weir._bad_time, weir._bad_span,
-- weir._attempt_limit). Only what still lives is brought within them.
-- +goose Up

update weir.pending
set run_at = case when run_at < '0001-01-01' then timestamptz '0001-01-01 00:00:00+00'
  else timestamptz '9998-12-31 00:00:00+00' end
where not isfinite(run_at) or run_at < '0001-01-01' or run_at >= '9999-01-01';
update weir.tasks q
set timeout = least(q.timeout, interval '100 years'), backoff = least(q.backoff, interval '100 years'),
  backoff_cap = least(q.backoff_cap, interval '100 years')
from (select task from weir.pending union all select task from weir.available union all select task from weir.running) x
where q.id = x.task and greatest(q.timeout, q.backoff, q.backoff_cap) > interval '100 years';
update weir.pools set per = least(per, interval '100 years') where per > interval '100 years';
update weir.schedules set catch_up = least(catch_up, interval '100 years'), jitter = least(jitter, interval '100 years')
where greatest(catch_up, jitter) > interval '100 years';
update weir.nodes set mode_until = null where not isfinite(mode_until) or mode_until >= '9999-01-01';
update weir.patience set relax = least(relax, interval '100 years'), fail = least(fail, interval '100 years')
where greatest(relax, fail) > interval '100 years';

-- Tasks that were snoozed very often: the same number of attempts stays spent.
with high as (
  select p.task, p.attempt - 20000 as over from weir.pending p where p.attempt > 20000
  union all select a.task, a.attempt - 20000 from weir.available a where a.attempt > 20000
), forgiven as (
  update weir.forgiven f set returns = f.returns - high.over from high
  where f.task = high.task and f.returns >= high.over returning f.task
), waits as (
  update weir.pending p set attempt = 20000 from forgiven where p.task = forgiven.task
)
update weir.available a set attempt = 20000 from forgiven where a.task = forgiven.task;
