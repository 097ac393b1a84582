-- The runner of a PC in plain SQL, as a member of weir_worker. It knows schema fleet and nothing else of Weir:
--   psql -v ON_ERROR_STOP=1 -v pc=PC-01 -v devices=a1,a2,a3 -f fleet.sql 'postgresql://me@localhost/weir'
-- Work for it, as a member of weir_client:
--   insert into fleet.tasks (name, payload) values ('smoke', '{"hello": "device"}');
\pset format unaligned
\pset tuples_only on
select set_config('runner.pc', :'pc', false) as pc \gset

-- A heartbeat: the PC lives, and these are its devices. The same again is fine, and is how a runner says so every few seconds.
insert into fleet.workers (pc_id, max_devices) values (:'pc', 20);
insert into fleet.devices (serial, pc_id) select serial, :'pc' from unnest(string_to_array(:'devices', ',')) serial;

do $$
declare
  pc text := current_setting('runner.pc');
  free int;
  run record;
begin
  while exists (select from fleet.tasks where status in ('pending', 'running')) loop
    update fleet.workers set last_heartbeat = now() where pc_id = pc;
    commit;

    -- Refill: as many as should run, less those that do.
    select target - running_count into free from fleet.pc_device_summary where pc_id = pc;
    for run in select * from fleet.claim_task_devices_for_pc(pc, free) loop
      commit;
      insert into fleet.execution_logs (task_device_id, pc_id, attempt_no, event_type) values (run.id, pc, run.attempt, 'ACKED');
      -- Here a device works: at run.device_target, with run.config. Work that lasts calls fleet.renew_task_device_lease every 15 seconds.
      if run.config ->> 'breaks' = run.device_serial then
        perform fleet.fail_or_retry_task_device(run.id, pc, 'the screen stayed black', run.attempt);
      else
        perform fleet.complete_task_device(run.id, pc, jsonb_build_object('seen', run.device_serial), run.attempt);
      end if;
      commit;
    end loop;

    -- A server does this too; then it finds nothing to do.
    perform fleet.fn_timeout_tasks_and_task_devices();
    commit;
    perform pg_sleep(0.1);
  end loop;
end $$;

select t.name || ' on ' || r.device_serial || ': ' || r.status || coalesce(', ' || r.error, '') from fleet.task_devices r join fleet.tasks t on t.id = r.task_id
where r.pc_id = :'pc' order by t.created_at, r.device_serial;
