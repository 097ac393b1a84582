-- Gives a rollout up: what waits is canceled, what runs is asked to stop, and what failed or was canceled keeps no
-- other version from running. What was applied stays, and what may have been applied goes on blocking until somebody
-- knows. It cannot be taken back. One that has ended without being done is given up the same way.
create or replace function weir.rollout_abort(id uuid, by text default null, reason text default null,
  at timestamptz default null, out changed boolean, out answer text)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_abort.at);
  r weir.rollouts := weir._rollout(rollout_abort.id);
  n record;
begin
  if r.aborted_at is not null then
    changed := false;
    select count(*) into n from weir.rollout_tasks x
    where x.rollout = r.job and exists (select from weir.running g where g.task = x.task);
    answer := concat_ws('; ', weir._note('it was aborted before', r.aborted_by, r.abort_note),
      case when n.count > 0 then format('%s that run were asked to stop', n.count) end);
    return;
  end if;
  if not exists (select from weir.job_finished f where f.job = r.job and f.outcome <> 'done') then
    perform weir._rollout_refuse_ended(r);
  end if;
  changed := true;
  -- Leases come before the job, and the job before the rollout: see weir._settle.
  if exists (select from weir.job_live l where l.job = r.job) then
    perform weir._act_as_owner('rollout');
    select * into n
    from weir.cancel_job(r.job, rollout_abort.by, concat_ws(': ', 'the rollout was aborted', rollout_abort.reason),
      at => rollout_abort.at);
    answer := format('aborted: %s canceled, %s asked to stop', n.canceled, n.requested);
  end if;
  update weir.rollouts x
  set aborted_at = t, aborted_by = coalesce(rollout_abort.by, session_user), abort_note = rollout_abort.reason
  where x.job = r.job;
  insert into weir.events (at, type, kind, subject, job, source, message)
  values (t, 'aborted', 'rollout', r.job, r.job, rollout_abort.by, rollout_abort.reason);
  perform weir._rollout_settle_and_open(r.job, t);
  answer := coalesce(answer, 'aborted: what did not succeed keeps no other version from running');
end $$;
comment on function weir.rollout_abort is 'Aborts a rollout.';
