-- Lets nothing new of a rollout start. What runs goes on.
create or replace function weir.rollout_pause(id uuid, by text default null, note text default null,
  at timestamptz default null, out changed boolean, out answer text)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_pause.at);
  r weir.rollouts := weir._rollout(rollout_pause.id);
  n int;
begin
  perform weir._rollout_refuse_ended(r);
  if r.started_at is null then
    perform weir._conflict('rollout %s was not started: there is nothing to pause', jsonb_build_array(r.job),
      hint => 'it starts when somebody starts it');
  end if;
  changed := r.paused_at is null;
  if not changed then
    answer := weir._note('it was paused before', r.paused_by, r.pause_note);
    return;
  end if;
  perform from weir.job_live l where l.job = r.job for update;
  update weir.rollouts x
  set paused_at = t, paused_by = coalesce(rollout_pause.by, session_user), pause_note = rollout_pause.note
  where x.job = r.job;
  insert into weir.events (at, type, kind, subject, job, source, message)
  values (t, 'paused', 'rollout', r.job, r.job, rollout_pause.by, rollout_pause.note);
  perform weir._rollout_settle_and_open(r.job, t);
  select count(*) into n from weir.rollout_tasks x
  where x.rollout = r.job and exists (select from weir.running g where g.task = x.task);
  answer := case when n = 0 then 'paused: nothing runs'
    else format('paused: %s that run go on, nothing new starts', n) end;
end $$;
comment on function weir.rollout_pause is 'Pauses a rollout.';
