-- What an executor knows of how its run ended, just before it reports the end. code null: it was applied, as version.
-- Returns ok, last when nothing else of the rollout is left for this database, or lost: the lease is over, and its word
-- does not count.
create or replace function weir.rollout_ended(task uuid, attempt int, token uuid, code text default null,
  unknown boolean default false, note text default null, version text default null, rank bigint default null,
  at timestamptz default null) returns text
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_ended.at);
begin
  perform from weir.running l
  where l.task = rollout_ended.task and l.attempt = rollout_ended.attempt and l.token = rollout_ended.token
  for key share;
  if not found then
    -- The word of one who woke too late is written down, and no more than that.
    perform weir._refuse('report of ' || coalesce(rollout_ended.code, 'applied'), array[rollout_ended.task],
      array[rollout_ended.attempt], array[rollout_ended.token], '{}', '{}', t);
    return 'lost';
  end if;
  update weir.rollout_runs g
  set ended_at = t, code = rollout_ended.code, unknown = rollout_ended.unknown,
    note = weir._text(left(rollout_ended.note, 4000)), look_at = case when rollout_ended.unknown then t end
  where g.task = rollout_ended.task and g.attempt = rollout_ended.attempt;
  if rollout_ended.code is null then
    -- Nobody has to decide any more about others that did not get this version done. The end of this task opens the
    -- lane.
    delete from weir.lane_blocks b using weir.tasks q
    where q.id = rollout_ended.task and b.lane = q.lane and b.rank = q.rank
      and not exists (select from weir.rollout_runs g where g.task = b.task and g.unknown);
  end if;
  if rollout_ended.code is null and rollout_ended.rank is not null then
    update weir.databases d set version = rollout_ended.version, version_rank = rollout_ended.rank, fault = null
    from weir.rollout_tasks x
    where x.task = rollout_ended.task and d.name = x.database and coalesce(d.version_rank, -1) < rollout_ended.rank;
  end if;
  if rollout_ended.unknown then
    perform pg_notify('weir_rollout', '');
  end if;
  return case when exists (
    select from weir.rollout_tasks x
    join weir.rollout_tasks o on o.rollout = x.rollout and o.database = x.database and o.task <> x.task
    where x.task = rollout_ended.task and not exists (select from weir.finished f where f.task = o.task)) then 'ok'
      else 'last' end;
end $$;
comment on function weir.rollout_ended is 'How a run ended, as its executor knows it.';
