-- Releases a held task. It goes on to its next gate. names are those under which the caller decides: a task may ask for
-- certain people (weir.asks).
create or replace function weir.release(task uuid, by text default null, reason text default null,
  names text[] default null, at timestamptz default null) returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(release.at);
  p weir.pending;
begin
  perform weir._refuse_owned((select q.job from weir.tasks q where q.id = release.task));
  perform weir._check(weir._bad_text('reason', release.reason, 1000));
  perform weir._may_decide(release.task, release.names);
  update weir.pending x set hold = null where x.task = release.task and x.hold is not null returning x.* into p;
  if not found then
    if weir._state_of(release.task) is null then
      perform weir._not_found('task', release.task::text);
    end if;
    perform weir._conflict('task %s is %s and not held', jsonb_build_array(release.task, weir._state_of(release.task)));
  end if;
  insert into weir.events (at, type, attempt, job, task, source, message)
  values (t, 'released', p.attempt, p.job, p.task, release.by, release.reason);
  if p.gate = 'hold' then
    perform weir._advance_and_open(array[release.task], t);
  end if;
end $$;
comment on function weir.release is 'Releases a held task.';
