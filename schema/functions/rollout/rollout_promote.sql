-- Somebody has looked at the stages before and lets this one begin.
create or replace function weir.rollout_promote(id uuid, stage text, by text default null, at timestamptz default null,
  out changed boolean, out answer text)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_promote.at);
  r weir.rollouts := weir._rollout(rollout_promote.id);
  s weir.rollout_stages := weir._rollout_stage(r.job, rollout_promote.stage);
  o weir.rollout_stages;
  approved int;
begin
  if s.promoted_at is not null then
    changed := false;
    answer := weir._note(format('stage %s was promoted before', s.name), s.promoted_by, null);
    return;
  end if;
  perform weir._rollout_refuse_ended(r);
  if s.n = 1 or not s.manual then
    perform weir._conflict('stage %s needs no promotion: it begins %s',
      jsonb_build_array(s.name, case when s.n = 1 then 'with the rollout' else 'by itself' end),
      hint => case when r.started_at is null then 'start it' else 'there is nothing to do' end,
      command => case when r.started_at is null then format('weir rollout run %s', r.job) end);
  end if;
  if r.started_at is null then
    perform weir._conflict('rollout %s was not started', jsonb_build_array(r.job),
      hint => 'start it', command => format('weir rollout run %s', r.job));
  end if;
  perform from weir.job_live l where l.job = r.job for update;
  select * into o from weir.rollout_stages x where x.rollout = r.job and x.n < s.n and x.state <> 'done'
  order by x.n limit 1;
  if found then
    perform weir._conflict('stage %s comes first, and it is %s', jsonb_build_array(o.name, replace(o.state, '_', ' ')),
      hint => coalesce(o.waits, format('promote %s when %s is done', s.name, o.name)));
  end if;
  select count(*) into approved from weir.rollout_approvals a
  where a.rollout = r.job and a.stage = s.n and a.hash = r.hash;
  if approved < s.approvals then
    perform weir._conflict('stage %s has %s of %s approvals', jsonb_build_array(s.name, approved, s.approvals),
      hint => 'approve it first', command => format('weir rollout approve %s %s', r.job, s.name));
  end if;
  changed := true;
  update weir.rollout_stages x set promoted_at = t, promoted_by = coalesce(rollout_promote.by, session_user)
  where x.rollout = r.job and x.n = s.n;
  insert into weir.events (at, type, kind, subject, job, source, message)
  values (t, 'promoted', 'rollout', r.job, r.job, rollout_promote.by, s.name);
  perform weir._rollout_settle_and_open(r.job, t);
  answer := weir._rollout_answer(format('stage %s promoted', s.name), r.job);
end $$;
comment on function weir.rollout_promote is 'Promotes a stage.';
