-- The status of every task of a rollout, and nothing else: what counts need. The words are those of weir.rollout_task.
create or replace view weir._rollout_status as
select x.task, x.rollout, x.stage,
  case
    when p.task is not null then
      case when p.hold is not null and s.state = 'not_started' then 'NOT_STARTED' else 'PENDING' end
    when f.outcome = 'done' then 'DONE' when f.outcome = 'skipped' then 'SKIPPED'
    when f.outcome is not null then
      case
        when exists (select from weir.rollout_runs g where g.task = x.task and g.attempt = f.attempt and g.unknown) then
          'UNKNOWN'
        else upper(f.outcome::text) end
    when exists (select from weir.running r where r.task = x.task) then 'RUNNING' else 'AVAILABLE' end as status
from weir.rollout_tasks x
join weir.rollout_stages s on s.rollout = x.rollout and s.n = x.stage
left join lateral (select p.task, p.hold from weir.pending p where p.task = x.task offset 0) p on true
left join lateral (select f.outcome, f.attempt from weir.finished f where p.task is null and f.task = x.task offset 0) f
  on true;
comment on view weir._rollout_status is 'Tasks of rollouts with their status.';
