-- Ends a pause.
create or replace function weir.rollout_resume(id uuid, by text default null, at timestamptz default null,
  out changed boolean, out answer text)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_resume.at);
  r weir.rollouts := weir._rollout(rollout_resume.id);
begin
  perform weir._rollout_refuse_ended(r);
  if r.started_at is null then
    perform weir._conflict('rollout %s was not started: there is nothing to resume', jsonb_build_array(r.job),
      hint => 'start it', command => format('weir rollout run %s', r.job));
  end if;
  changed := r.paused_at is not null;
  if not changed then
    answer := 'it is not paused';
    return;
  end if;
  perform from weir.job_live l where l.job = r.job for update;
  update weir.rollouts x set paused_at = null, paused_by = null, pause_note = null where x.job = r.job;
  insert into weir.events (at, type, kind, subject, job, source)
  values (t, 'resumed', 'rollout', r.job, r.job, rollout_resume.by);
  perform weir._rollout_settle_and_open(r.job, t);
  answer := weir._rollout_answer('resumed', r.job);
end $$;
comment on function weir.rollout_resume is 'Resumes a rollout.';
