-- One person's yes to a stage of the plan as it is. hash, if given, is that of the plan the person saw.
create or replace function weir.rollout_approve(id uuid, stage text, by text, note text default null,
  hash text default null, at timestamptz default null, out changed boolean, out answer text)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_approve.at);
  r weir.rollouts := weir._rollout(rollout_approve.id);
  s weir.rollout_stages := weir._rollout_stage(r.job, rollout_approve.stage);
  n int;
begin
  if coalesce(rollout_approve.by, '') = '' then
    perform weir._invalid('by', 'say who approves');
  end if;
  perform weir._rollout_refuse_ended(r);
  if rollout_approve.hash <> r.hash then
    perform weir._conflict('rollout %s has another plan than the one you saw', jsonb_build_array(r.job),
      hint => 'look at it again, then approve');
  end if;
  if s.approvals = 0 then
    perform weir._conflict('stage %s needs no approval', jsonb_build_array(s.name), hint => 'there is nothing to do');
  end if;
  changed := not exists (select from weir.rollout_approvals a
    where a.rollout = r.job and a.stage = s.n and a.hash = r.hash and a.by = rollout_approve.by);
  if not changed then
    answer := format('%s approved stage %s before', rollout_approve.by, s.name);
    return;
  end if;
  select count(*) into n from weir.rollout_approvals a where a.rollout = r.job and a.stage = s.n and a.hash = r.hash;
  if n >= s.approvals then
    perform weir._conflict('stage %s has its approvals: %s of %s', jsonb_build_array(s.name, n, s.approvals),
      hint => 'no more are needed');
  end if;
  perform from weir.job_live l where l.job = r.job for update;
  insert into weir.rollout_approvals (rollout, stage, by, hash, note, at)
  values (r.job, s.n, rollout_approve.by, r.hash, rollout_approve.note, t)
  on conflict (rollout, stage, by) do update set hash = excluded.hash, note = excluded.note, at = excluded.at;
  insert into weir.events (at, type, kind, subject, job, source, message, data)
  values (t, 'approved', 'rollout', r.job, r.job, rollout_approve.by,
    concat_ws(': ', s.name, nullif(rollout_approve.note, '')), jsonb_build_object('stage', s.name, 'hash', r.hash));
  perform weir._rollout_settle_and_open(r.job, t);
  answer := weir._rollout_answer(format('stage %s approved (%s of %s)', s.name, n + 1, s.approvals), r.job);
end $$;
comment on function weir.rollout_approve is 'Approves a stage of a rollout.';
