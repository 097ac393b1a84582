-- Lets the first stage of a rollout begin, as far as it needs nobody else.
create or replace function weir.rollout_start(id uuid, by text default null, at timestamptz default null,
  out changed boolean, out answer text)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_start.at);
  r weir.rollouts := weir._rollout(rollout_start.id);
begin
  perform weir._rollout_refuse_ended(r);
  changed := r.started_at is null;
  if not changed then
    answer := weir._note('it was started before', r.started_by, null);
    return;
  end if;
  perform from weir.job_live l where l.job = r.job for update;
  update weir.rollouts x set started_at = t, started_by = rollout_start.by where x.job = r.job;
  update weir.pending p set rank = q.rank from weir.tasks q
  where p.task = any (array(select x.task from weir.rollout_tasks x where x.rollout = r.job)) and q.id = p.task;
  -- From here on it keeps higher versions waiting: whoever opens one of its lanes has done so before the event below,
  -- or does so after the commit and sees the ranks.
  perform weir._hold_keys(array(select distinct q.lane from weir.rollout_tasks x join weir.tasks q on q.id = x.task
      where x.rollout = r.job and q.lane is not null), true);
  insert into weir.events (at, type, kind, subject, job, source)
  values (t, 'started', 'rollout', r.job, r.job, rollout_start.by);
  perform weir._rollout_settle_and_open(r.job, t);
  answer := weir._rollout_answer('started', r.job);
end $$;
comment on function weir.rollout_start is 'Starts a rollout.';
