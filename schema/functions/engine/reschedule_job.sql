-- Moves a job that is queued to another time, or gives it another priority. Null leaves as is. Its place among jobs of
-- the same priority stays.
create or replace function weir.reschedule_job(job uuid, due timestamptz default null, priority int default null,
  by text default null, at timestamptz default null)
returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(reschedule_job.at);
  was timestamptz;
begin
  reschedule_job.job := weir._job_of(reschedule_job.job);
  if reschedule_job.priority not between -100 and 100 then
    perform weir._invalid('priority', '%s is outside -100 .. 100', jsonb_build_array(reschedule_job.priority));
  end if;
  perform weir._check(weir._bad_time('due', reschedule_job.due));
  select l.due into was from weir.job_live l where l.job = reschedule_job.job for update;
  if was is null then
    if not exists (select from weir.jobs j where j.id = reschedule_job.job) then
      perform weir._not_found('job', reschedule_job.job::text);
    end if;
    perform weir._conflict('job %s is not queued any more', jsonb_build_array(reschedule_job.job),
      hint => 'its tasks that wait: weir.set_priority, weir.hold; the whole job: weir.cancel_job');
  end if;
  update weir.job_live l set due = coalesce(reschedule_job.due, l.due), note = null where l.job = reschedule_job.job;
  update weir.jobs j
  set priority = coalesce(reschedule_job.priority, j.priority),
    scheduled_at = coalesce(reschedule_job.due, j.scheduled_at)
  where j.id = reschedule_job.job;
  insert into weir.events (at, type, kind, subject, job, source, data)
  values (t, 'rescheduled', 'job', reschedule_job.job, reschedule_job.job, reschedule_job.by,
    jsonb_strip_nulls(jsonb_build_object('due', reschedule_job.due, 'priority', reschedule_job.priority)));
  if reschedule_job.due <= t then
    perform pg_notify('weir_plan', '');
  end if;
end $$;
comment on function weir.reschedule_job is 'Changes the time or the priority of a queued job.';
