-- Writes to flow.jobs. An insert opens a queued job; the same id again changes nothing. While a job is queued, its
-- priority and its time may be changed.
create or replace function weir._flow_job() returns trigger
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
declare
  t timestamptz := clock_timestamp();
  flow weir.workflows;
  made uuid;
begin
  if tg_op = 'DELETE' then
    perform weir._invalid(null, 'delete of flow.jobs: history goes by its age',
      hint => 'to stop a job: select weir.cancel_job(id)');
  end if;
  if tg_op = 'UPDATE' then
    if (new.id, new.workflow_id, new.status, new.progress, new.current_task_key, new.order_seq, new.options,
      new.error_code, new.error_message, new.started_at, new.finished_at)
      is distinct from (old.id, old.workflow_id, old.status, old.progress, old.current_task_key, old.order_seq,
        old.options, old.error_code, old.error_message, old.started_at, old.finished_at)
    then
      perform weir._invalid(null,
        'update of flow.jobs: only priority and scheduled_at change, and only while the job is queued',
        hint => 'a job moves by its tasks: weir.finish, weir.fail; to stop it: weir.cancel_job; to let it try again: '
          'weir.retry_job');
    end if;
    if (new.priority, new.scheduled_at) is distinct from (old.priority, old.scheduled_at) then
      perform weir.reschedule_job(weir._job_of(old.id), due => coalesce(new.scheduled_at, t), priority => new.priority,
        by => session_user::text);
    end if;
    return new;
  end if;
  if coalesce(new.status, 'queued') <> 'queued' or new.started_at is not null or new.finished_at is not null
    or new.error_code is not null or new.error_message is not null then
    perform weir._invalid('status', 'a job begins queued', hint => 'leave out status and all that tells how it went');
  end if;
  if new.workflow_id is null then
    perform weir._invalid('workflow_id', 'say what to run', hint => 'a job without a workflow: weir.submit_job');
  end if;
  select * into flow from weir.workflows w where w.id = new.workflow_id;
  if not found then
    perform weir._not_found('workflow', new.workflow_id::text);
  end if;
  if new.id is not null then
    -- Two that insert the same id come one after the other.
    perform pg_advisory_xact_lock(90, hashtext(new.id::text));
    if exists (select from weir.jobs j where j.id = weir._job_of(new.id)) then
      return new;
    end if;
  end if;
  if not flow.active then
    perform weir._conflict('version %s of workflow %s is not active', jsonb_build_array(flow.version, flow.name),
      hint => 'activate it: weir.set_workflow');
  end if;
  if jsonb_typeof(new.options) not in ('object', 'null') then
    perform weir._invalid('options', 'expected an object', hint => 'for example {"params": {"preset": "720p"}}');
  end if;
  if pg_column_size(new.options) > 1000000 then
    perform weir._invalid('options', 'it is over 1 MB', hint => 'give data as files, not as options');
  end if;
  -- A number of flow.order_seq only says "the next".
  if new.order_seq >= 4611686018427387904 then
    new.order_seq := null;
  elsif new.order_seq is not null then
    perform pg_advisory_xact_lock(91, (new.order_seq % 2147483647)::int);
    if new.order_seq < 1 or new.order_seq > (select last_value from weir.order_seq)
      or exists (select from weir.jobs j where j.order_seq = new.order_seq) then
      perform weir._invalid('order_seq', '%s is taken, or was never given out', jsonb_build_array(new.order_seq),
        hint => 'leave it out, or write nextval(''flow.order_seq'')');
    end if;
  end if;
  made := weir.open_job(flow.name, kind => 'workflow', priority => coalesce(new.priority, 0), due => new.scheduled_at,
    definition => flow.id, options => nullif(new.options, 'null'), order_seq => new.order_seq, id => new.id,
    at => null);
  select j.order_seq, j.priority, coalesce(l.due, j.scheduled_at), j.created_at, 'queued', 0, j.created_at
  into new.order_seq, new.priority, new.scheduled_at, new.created_at, new.status, new.progress, new.updated_at
  from weir.jobs j left join weir.job_live l on l.job = j.id where j.id = made;
  new.id := coalesce(new.id, made);
  return new;
end $$;
comment on function weir._flow_job is 'Opens a job that was inserted into flow.jobs.';
