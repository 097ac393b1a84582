-- The history of attempts as the device queue had it, read from the timeline: one set of rows per attempt. INSERT
-- (task_device_id, pc_id, attempt_no, event_type, level, message, data) adds a line of the runner's own; with
-- event_type ACKED it says that the device has begun. Ask by task_id, by created_at, or both; for one run alone
-- weir.task_events is faster.
-- event_type  CREATED, SENT, ACKED (if the runner says so); SUCCEEDED, FAILED or TIMEOUT; then RETRY_SCHEDULED or
-- FAILED_FINAL. CANCELLED. REFUSED: a report that came too late. Else the runner's own; what Weir notes
-- beside an attempt (pieces of the log, files) is not shown
create or replace view fleet.execution_logs as
select e.seq * 262144 + 2 * (u.nth - 1) + k.nth - 1 as id, e.job as task_id, u.task as task_device_id,
  -- A run may have gone from one device to another.
  case when x.excluded = '{}' then x.device
    else coalesce((select d.id from weir.events c join weir.devices d on d.serial = c.data -> 'devices' ->> u.task::text
    where c.job = e.job and c.type = 'claimed' and c.attempt = e.attempt and c.tasks @> array[u.task] limit 1),
      x.device) end as device_id,
  coalesce(n.name, case when e.type = 'stale' then e.data ->> 'pc' end) as pc_id, e.attempt::int as attempt_no,
    k.word as event_type,
  coalesce(e.level, 'info') as level, coalesce(m.late, e.message) as message,
  case when e.tasks is null then e.data end as data, e.at as created_at
from weir.events e join weir.fleet_jobs j on j.job = e.job
cross join lateral unnest(coalesce(e.tasks, array[e.task])) with ordinality u (task, nth)
left join weir.fleet_units x on x.task = u.task
left join lateral (select f.worker from weir.finished f
  where e.type in ('failed', 'failed_final') and f.task = u.task offset 0) f
  on true
left join weir.workers w on w.id = coalesce(e.worker, f.worker)
left join weir.nodes n on n.id = w.node,
  lateral (select case when e.type in ('retrying', 'failed', 'failed_final') then
    weir._fleet_timeout(e.data ->> 'reason', j.timeout) end as late) m,
  lateral (select coalesce(case when e.type = 'log' then e.data ->> 'event_type' end, e.type) as word) o,
  lateral unnest(case
    when e.type = 'claimed' then array['CREATED', 'SENT']
    when e.type = 'started' then array['ACKED']
    when e.type = 'done' then array['SUCCEEDED']
    when e.type = 'retrying' then array[case when m.late is null then 'FAILED' else 'TIMEOUT' end, 'RETRY_SCHEDULED']
    when e.type in ('expired', 'returned') then array['FAILED', 'RETRY_SCHEDULED']
    when e.type = 'failed' then array[case when m.late is null then 'FAILED' else 'TIMEOUT' end]
    when e.type = 'failed_final' then array['FAILED_FINAL']
    when e.type in ('canceled', 'skipped') then array['CANCELLED']
    when e.type = 'stale' then array['REFUSED']
    when e.type in ('log', 'artifact', 'adopted', 'cancel_requested') and not coalesce(e.data ? 'event_type', false)
      then null
    when e.worker is not null
      and not exists (select from weir.transition y where y.event = e.type) then
        array[case when o.word = any (weir._fleet_reserved_words() || array['ACKED']) then 'log'
            else o.word end] end) with ordinality k (word, nth)
where u.task is not null;
comment on view fleet.execution_logs is 'The history of attempts. INSERT adds a line of a runner.';

create or replace trigger write instead of insert or update or delete on fleet.execution_logs for each row
execute function weir._fleet_log_row();
