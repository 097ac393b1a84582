-- Gives a rollout up: what waits is canceled, what runs is asked to stop. What was applied stays. It cannot be taken back.
create or replace function weir.rollout_abort(id uuid, by text default null, reason text default null, at timestamptz default null, out changed boolean, out answer text)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_abort.at);
  r weir.rollouts := weir._rollout(rollout_abort.id);
  n record;
  lanes text[];
begin
  if r.aborted_at is not null then
    changed := false;
    select count(*) into n from weir.rollout_tasks x where x.rollout = r.job and exists (select from weir.running g where g.task = x.task);
    answer := concat_ws('; ', weir._note('it was aborted before', r.aborted_by, r.abort_note), case when n.count > 0 then format('%s that run were asked to stop', n.count) end);
    return;
  end if;
  perform weir._rollout_lives(r);
  changed := true;
  -- Leases come before the job, and the job before the rollout: see weir._settle.
  select * into n from weir.cancel_job(r.job, rollout_abort.by, concat_ws(': ', 'the rollout was aborted', rollout_abort.reason), at => rollout_abort.at);
  update weir.rollouts x set aborted_at = t, aborted_by = coalesce(rollout_abort.by, session_user), abort_note = rollout_abort.reason where x.job = r.job;
  insert into weir.events (at, type, kind, subject, job, source, message) values (t, 'aborted', 'rollout', r.job, r.job, rollout_abort.by, rollout_abort.reason);
  -- What is canceled with its rollout was given up: it blocks no version.
  with d as (
    delete from weir.lane_blocks b using weir.rollout_tasks x, weir.finished f
    where x.rollout = r.job and b.task = x.task and f.task = x.task and f.outcome = 'canceled' and not exists (select from weir.rollout_runs g where g.task = x.task and g.unknown)
    returning b.lane
  ) select coalesce(array_agg(distinct d.lane), '{}') into lanes from d;
  perform weir._rollout_go(r.job, t);
  perform weir._after('{}', lanes, '{}', t);
  answer := format('aborted: %s canceled, %s asked to stop', n.canceled, n.requested);
end $$;
comment on function weir.rollout_abort is 'Aborts a rollout.';
