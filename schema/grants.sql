-- Who may call what. Nobody but the owner writes to a table; the functions are the API.
-- weir_client submits, commands and may read everything but the tables of auth; weir_worker claims and reports. A
-- worker that also submits is a member of both.
-- The roles belong to the cluster and not to the database: a dump does not bring them.
do $$
declare r text;
begin
  foreach r in array array['weir_client', 'weir_worker'] loop
    begin
      if not exists (select from pg_roles where rolname = r) then
        execute format('create role %I nologin', r);
      end if;
    exception
      when duplicate_object or unique_violation then null;
      when insufficient_privilege then
        raise exception 'role % does not exist and % may not create it', r, current_user
          using hint = format('ask an administrator to run: create role %I nologin', r);
    end;
  end loop;
end $$;
revoke all on schema weir from public;
revoke all on all tables in schema weir from public, weir_client, weir_worker;
revoke execute on all functions in schema weir from public, weir_client, weir_worker;
grant usage on schema weir to weir_client, weir_worker;

grant execute on function weir.submit, weir.submit_many, weir.submit_job, weir.open_gates, weir.cancel, weir.cancel_job,
  weir.retry, weir.skip, weir.hold, weir.release, weir.refuse, weir.signal, weir.signal_task,
  weir.set_priority, weir.set_pool, weir.note_pool, weir.drop_pool,
  weir.set_schedule, weir.drop_schedule, weir.set_node_mode, weir.why, weir.task_events, weir.events_after,
  weir.events_tail
  to weir_client;
grant execute on function weir._id_time to weir_client;
-- Views say reasons in words.
grant execute on function weir._sentence, weir._words, weir._format_argument, weir._instant, weir._span to weir_client;
grant select on all tables in schema weir to weir_client;
-- Who may log in, and with what, is nobody's business but the server's.
revoke all on weir.users, weir.sessions, weir.tokens, weir.links, weir.joins, weir.node_credentials,
  weir.login_attempts, weir.oidc_visits
  from weir_client;

-- With the token of a lease one reports in the name of its worker. The id of a worker's last claim is that token.
do $$
declare
  t record;
begin
  for t in
    select a.attrelid::regclass as name,
      string_agg(quote_ident(a.attname), ', ' order by a.attnum) filter (where a.attname <> s.hidden) as shown
    from (values ('weir.running'::regclass, 'token'), ('weir.workers', 'last_claim'),
      ('weir.rollout_runs', 'token')) s (name, hidden)
    join pg_attribute a on a.attrelid = s.name and a.attnum > 0 and not a.attisdropped group by a.attrelid
  loop
    execute format('revoke select on %s from weir_client', t.name);
    execute format('grant select (%s) on %s to weir_client', t.shown, t.name);
  end loop;
end $$;

grant execute on function weir.claim, weir.start_many, weir.renew, weir.record, weir.record_many, weir.finish,
  weir.finish_many, weir.fail, weir.fail_many, weir.give_back_many, weir.confirm_cancel, weir.register_node,
  weir.register_worker, weir.heartbeat, weir.report_faults, weir.stop_worker, weir.tend, weir.open_gates, weir.expire
  to weir_worker;
grant execute on function weir.leased, weir.leased_many, weir.foreign_leases, weir.inputs, weir.bound_slots
  to weir_worker;
-- What a planner says of tasks (plan_task, wait_for, decide, relabel, set_job_note) is the server's to say: who submits
-- must not end the work of others as done.
grant execute on function weir.open_job, weir.add_tasks, weir.close_job, weir.why_job, weir.retry_job to weir_client;

-- Sealed or not, a secret is read by the server alone.
revoke all on weir.secrets from weir_client;
grant execute on function weir.record_artifact to weir_worker;
grant execute on function weir.set_wake, weir.reschedule_job to weir_client;
-- Schema flow: whoever writes where it is not allowed should hear what to use instead, and that is said by triggers.
revoke all on schema flow from public;
revoke execute on all functions in schema flow from public, weir_client, weir_worker;
revoke all on all tables in schema flow from public, weir_client, weir_worker;
grant usage on schema flow to weir_client;
grant select, insert, update, delete on all tables in schema flow to weir_client;
revoke all on sequence flow.order_seq from public, weir_client;
grant usage on sequence flow.order_seq to weir_client;
grant execute on function weir.put_workflow, weir.set_workflow to weir_client;
grant execute on function weir.note_bulk, weir.log_event to weir_client;
grant execute on function weir.drop_workflow, weir.set_trigger, weir.pause_trigger, weir.drop_trigger to weir_client;
-- Rollouts: who commands them asks a server, which knows who asks; in SQL it is the owner's. A client may read them,
-- but not what was found in the schemas of others.
revoke all on weir.snapshots from weir_client;
-- Fleets: an agent reports and claims for its PC through a server, which knows which PC it is; in SQL a worker may say
-- so itself. Commands are the server's, which knows who asks.
grant execute on function weir.fleet_report, weir.fleet_claim, weir.fleet_fail, weir.fleet_unclean, weir.fleet_tend,
  weir.fleet_trouble, weir.pc_slots
  to weir_worker;
grant execute on function weir.fleet_submit, weir.fleet_cancel, weir.fleet_why to weir_client;
grant execute on function weir._pc_reason, weir._pc_state, weir._pc_slots, weir._device_reason, weir._device_answer
  to weir_client;
-- Reasons are said by whoever reads a view that has one.
grant execute on function weir._sentence, weir._format_argument, weir._words, weir._span, weir._instant
  to weir_client, weir_worker;
-- Schema fleet: a client submits and sees all; a worker is the runner of a PC. Both may try what is refused, for
-- triggers say what to use instead.
revoke all on schema fleet from public;
revoke all on all tables in schema fleet from public, weir_client, weir_worker;
revoke execute on all functions in schema fleet from public, weir_client, weir_worker;
grant usage on schema fleet to weir_client, weir_worker;
grant select on all tables in schema fleet to weir_client;
grant insert, update, delete on fleet.tasks to weir_client;
grant select on fleet.tasks, fleet.task_devices, fleet.devices, fleet.workers, fleet.pc_device_summary to weir_worker;
grant insert, update, delete on fleet.devices, fleet.workers to weir_worker;
grant insert on fleet.execution_logs to weir_worker;
grant insert, update, delete on fleet.task_devices, fleet.pc_device_summary to weir_client, weir_worker;
grant execute on function fleet.claim_task_devices_for_pc, fleet.renew_task_device_lease, fleet.complete_task_device,
  fleet.fail_or_retry_task_device, fleet.fn_timeout_tasks_and_task_devices
  to weir_worker;
grant execute on function weir._fleet_timeout to weir_client, weir_worker;
grant execute on function weir._fleet_reserved_words to weir_client;
grant execute on function weir._id_time, weir._pc_reason, weir._device_reason, weir._device_answer to weir_worker;
-- Workspaces: who wants what asks a server, which knows who asks. Codes that open one are the server's alone.
revoke all on weir.workspace_codes from weir_client;
revoke all on weir.workspace_visits from weir_client;
