-- A person decides that a change need not run on a database: what comes after it goes on. It cannot be taken back.
create or replace function weir.rollout_skip(task uuid, reason text, by text default null, at timestamptz default null,
  out changed boolean, out answer text)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  r weir.rollouts := weir._rollout_of(rollout_skip.task);
  x record;
  stays text;
begin
  if coalesce(rollout_skip.reason, '') = '' then
    perform weir._invalid('reason', 'say why the change need not run');
  end if;
  select * into x from weir.rollout_task y where y.id = rollout_skip.task;
  if x.status = 'SKIPPED' then
    changed := false;
    answer := format('%s was skipped before: %s', x.key, x.cause);
    return;
  end if;
  if x.status in ('PENDING', 'AVAILABLE')
    and exists (select from weir.rollout_runs g
      where g.task = x.id and g.attempt = x.attempt and g.code = 'applied') then
    perform weir._conflict('%s was applied: it cannot be skipped', jsonb_build_array(x.key),
      hint => 'it ends as DONE by itself, nothing is run');
  end if;
  if x.status in ('RUNNING', 'DONE', 'UNKNOWN') then
    perform weir._conflict('%s is %s: it cannot be skipped', jsonb_build_array(x.key, x.status),
      hint => case x.status when 'UNKNOWN' then 'it may have been applied; say which' when 'DONE' then 'it has run'
        else 'cancel it first' end,
      command => case x.status
        when 'UNKNOWN' then format('weir rollout resolve %s --applied or --not-applied', x.id) end);
  end if;
  if x.status = 'CANCELED' then
    -- With its rollout aborted it is given up anyhow.
    perform weir._rollout_refuse_ended(r) where r.aborted_at is not null;
    perform weir._rollout_retry_task(r, x.id, rollout_skip.by, rollout_skip.at);
  end if;
  changed := true;
  perform weir._act_as_owner('rollout');
  perform weir.skip(x.id, rollout_skip.reason, rollout_skip.by, at => rollout_skip.at);
  answer := format('%s skipped', x.key);
  -- A part of it may be there, and nobody will ever look at it again.
  select coalesce(g.stays, g.note) into stays from weir.rollout_runs g
  where g.task = x.id and (g.stays is not null or g.code = 'partial') order by g.attempt desc limit 1;
  if stays is not null then
    insert into weir.events (at, type, job, task, source, level, message)
    values (weir._clock(rollout_skip.at), 'partial', r.job, x.id, rollout_skip.by, 'warn',
      format('skipped, and a part of it stays: %s', stays));
    answer := format('%s; a part of it stays: %s', answer, stays);
  end if;
end $$;
comment on function weir.rollout_skip is 'Skips a task of a rollout.';
