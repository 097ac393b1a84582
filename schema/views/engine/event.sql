-- The timeline, one line per task where a row tells of a whole batch. For reading on, use weir.events_after.
create or replace view weir.event as
select e.seq, e.at, e.type, coalesce(e.kind, 'task') as kind, coalesce(e.subject, u.task::text) as subject, e.job,
  u.task, e.attempt::int, w.name as worker, e.source, coalesce(e.level, 'info') as level, e.message, e.data
from weir.events e left join lateral unnest(coalesce(e.tasks, array[e.task])) u (task) on true
left join weir.workers w on w.id = e.worker;
comment on view weir.event is 'The timeline.';
