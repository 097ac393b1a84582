-- Opens the jobs for runs of a workflow's schedule, as far as its policy on overlaps lets them: skip and queue_one
-- leave runs out, cancel_running keeps the newest alone. That a queued job waits for the one before it is the builder's
-- part. The caller holds the schedule's row, so runs come one by one. The zone of the schedule is that of the dates of
-- its jobs, whatever becomes of the schedule.
create or replace function weir._fire_workflow(s weir.schedules, due timestamptz[], t timestamptz) returns uuid[]
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  w weir.workflows;
  d timestamptz;
  ids uuid[] := '{}';
  in_zone jsonb := s.options;
begin
  select x.* into w from weir.workflows x where x.name = s.workflow and x.active order by x.version desc limit 1;
  if not found then
    perform weir._conflict('workflow %L has no active version', jsonb_build_array(s.workflow),
      hint => 'activate one, or drop the schedule');
  end if;
  if s.zone <> coalesce(w.definition ->> 'zone', 'UTC') then
    in_zone := coalesce(s.options, '{}') || jsonb_build_object('zone', s.zone);
  end if;
  if s.overlap = 'cancel_running' then
    due := due[cardinality(due):];
    perform weir.cancel_job(l.job, 'schedule ' || s.name, 'the next run is due', at => t) from weir.job_live l
    where l.schedule = s.name and l.cancel_at is null;
  end if;
  foreach d in array due loop
    continue when s.overlap = 'skip' and exists (select from weir.job_live l where l.schedule = s.name)
      or s.overlap = 'queue_one'
        and exists (select from weir.job_live l where l.schedule = s.name and l.due is not null);
    ids := ids
      || weir.open_job(w.name, kind => 'workflow',
        priority => case
          when jsonb_typeof(w.definition -> 'priority') = 'number' then (w.definition ->> 'priority')::int else 0 end,
      due => nullif(greatest(weir._jittered(s.name, d, s.jitter), t), t), idempotency_key => weir._run_key(s.name, d),
      definition => w.id, schedule => s.name, options => in_zone, scheduled_at => d, at => t);
  end loop;
  -- Whoever builds jobs learns of new ones once a second; what jitter puts off by less should not wait for that.
  if s.jitter > interval '0' then
    perform pg_notify('weir_plan', '');
  end if;
  update weir.schedules x set last_job = coalesce(ids[cardinality(ids)], x.last_job) where x.name = s.name;
  return ids;
end $$;
comment on function weir._fire_workflow is 'Opens the jobs of due runs of a workflow.';
