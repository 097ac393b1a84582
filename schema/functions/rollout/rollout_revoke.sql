-- Takes one's own approval back, as long as the stage has not begun.
create or replace function weir.rollout_revoke(id uuid, stage text, by text, at timestamptz default null,
  out changed boolean, out answer text)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_revoke.at);
  r weir.rollouts := weir._rollout(rollout_revoke.id);
  s weir.rollout_stages := weir._rollout_stage(r.job, rollout_revoke.stage);
begin
  perform weir._rollout_refuse_ended(r);
  if not exists (select from weir.rollout_approvals a
    where a.rollout = r.job and a.stage = s.n and a.by = rollout_revoke.by) then
    perform weir._conflict('%s has not approved stage %s',
      jsonb_build_array(coalesce(nullif(rollout_revoke.by, ''), 'nobody'), s.name),
      hint => 'only what was approved can be taken back, by whoever did');
  end if;
  perform from weir.job_live l where l.job = r.job for update;
  select * into s from weir.rollout_stages x where x.rollout = r.job and x.n = s.n;
  if s.begun_at is not null then
    perform weir._conflict('stage %s has begun: its approvals stand', jsonb_build_array(s.name),
      hint => 'pause or abort the rollout');
  end if;
  changed := true;
  delete from weir.rollout_approvals a where a.rollout = r.job and a.stage = s.n and a.by = rollout_revoke.by;
  insert into weir.events (at, type, kind, subject, job, source, message, data)
  values (t, 'revoked', 'rollout', r.job, r.job, rollout_revoke.by, s.name, jsonb_build_object('stage', s.name));
  perform weir._rollout_settle_and_open(r.job, t);
  answer := weir._rollout_answer(format('approval of stage %s taken back', s.name), r.job);
end $$;
comment on function weir.rollout_revoke is 'Takes an approval back.';
