-- A fleet of two PCs by schema fleet alone. The worker is the runner of both, the client a scheduler. What it prints is rules.out.
\pset format unaligned
\pset tuples_only on
\set ON_ERROR_STOP on
\set VERBOSITY sqlstate

\echo # The PCs and their devices
\connect :worker
insert into fleet.workers (pc_id, max_devices) values ('PC-01', 20), ('PC-02', 20);
insert into fleet.devices (serial, pc_id) select 'a' || to_char(n, 'fm00'), 'PC-01' from generate_series(1, 23) n;
insert into fleet.devices (serial, pc_id, target, labels) values ('b01', 'PC-02', '192.0.2.7:5555', '{"model": "kiosk"}') returning serial, pc_id, status, target;
insert into fleet.devices (serial, pc_id) values ('b02', 'PC-02'), ('b01', 'PC-02');
select pc_id, device_count, online_count, running_count, eligible_device_count, target, max_devices from fleet.pc_device_summary order by pc_id;
\echo a heartbeat, and a device that another PC sees
update fleet.workers set last_heartbeat = now() where pc_id = 'PC-01' returning status, max_devices;
\set ON_ERROR_STOP off
insert into fleet.devices (serial, pc_id) values ('b01', 'PC-01');
\set ON_ERROR_STOP on

\echo
\echo # One task is ACTIVE, the oldest
\connect :client
insert into fleet.tasks (name, payload, config) values ('smoke', '{"url": "http://192.0.2.1"}', '{"backoff": "0s"}') returning name, status, max_attempts, timeout;
insert into fleet.tasks (name, target, timeout, config) values ('slow', '{"devices": ["b02"]}', '1 s', '{"backoff": "0s"}') returning name, status, timeout;
insert into fleet.tasks (name, target) values ('last', '{"devices": ["b01"]}');
select name, status, devices_total from fleet.tasks order by created_at;

\echo
\echo # At most 20 run on a PC; a freed slot is refilled, one by one
\connect :worker
select count(*), min(attempt), min(config ->> 'url') from fleet.claim_task_devices_for_pc('PC-01', 50, lease => '10 min');
select count(*) from fleet.claim_task_devices_for_pc('PC-01', 50, lease => '10 min');
select pc_id, running_count, target from fleet.pc_device_summary order by pc_id;
select count(*) as rows_made from fleet.task_devices;
select id as a01 from fleet.task_devices where device_serial = 'a01' \gset
select id as a02 from fleet.task_devices where device_serial = 'a02' \gset
select id as a03 from fleet.task_devices where device_serial = 'a03' \gset
select id as a04 from fleet.task_devices where device_serial = 'a04' \gset
insert into fleet.execution_logs (task_device_id, pc_id, attempt_no, event_type) values (:'a01', 'PC-01', 1, 'ACKED');
insert into fleet.execution_logs (task_device_id, pc_id, attempt_no, event_type, message) values (:'a01', 'PC-01', 1, 'step 2', 'logged in');
select status, attempt, result from fleet.complete_task_device(:'a01', 'PC-01', attempt => 1, result => '{"ok": true}');
\echo 19: one more
select device_serial, attempt from fleet.claim_task_devices_for_pc('PC-01', 50, lease => '10 min');
select status from fleet.complete_task_device(:'a02', 'PC-01');
select status from fleet.complete_task_device(:'a03', 'PC-01');
\echo 18: two more
select device_serial, attempt from fleet.claim_task_devices_for_pc('PC-01', 50, lease => '10 min');
\echo a full PC asks for nothing
select count(*) from fleet.pc_device_summary s, fleet.claim_task_devices_for_pc(s.pc_id, s.target - s.running_count) where s.pc_id = 'PC-01';

\echo
\echo # Three attempts, then FAILED_FINAL, and the device is out
select status, attempt, max_attempts, error from fleet.fail_or_retry_task_device(:'a04', 'PC-01', 'adb offline', 1);
update fleet.workers set last_heartbeat = now();
select fleet.fn_timeout_tasks_and_task_devices();
select device_serial, attempt from fleet.claim_task_devices_for_pc('PC-01', 50, lease => '10 min');
select status, attempt, error from fleet.fail_or_retry_task_device(:'a04', 'PC-01', 'adb offline again', 2);
\echo the same report again, and one of an attempt that is over, and one of another PC
select status, attempt from fleet.fail_or_retry_task_device(:'a04', 'PC-01', 'adb offline again', 2);
select status is null as refused from fleet.complete_task_device(:'a04', 'PC-01', attempt => 1);
update fleet.workers set last_heartbeat = now();
select fleet.fn_timeout_tasks_and_task_devices();
select device_serial, attempt from fleet.claim_task_devices_for_pc('PC-01', 50, lease => '10 min');
select status is null as refused from fleet.complete_task_device(:'a04', 'PC-02', attempt => 3);
select status, attempt, attempt >= max_attempts as failed_final from fleet.fail_or_retry_task_device(:'a04', 'PC-01', 'adb offline for good', 3);
select serial, status, error from fleet.devices where serial = 'a04';
select pc_id, error_count, eligible_device_count, running_count, target from fleet.pc_device_summary where pc_id = 'PC-01';
\echo the rest of it ends well
select count(*) from fleet.task_devices r, fleet.complete_task_device(r.id, r.pc_id, attempt => r.attempt) d where r.status = 'running' and d.status = 'completed';
select device_serial, d.status from fleet.claim_task_devices_for_pc('PC-02', 20) r, lateral (select status from fleet.complete_task_device(r.id, 'PC-02', attempt => r.attempt)) d;

\echo
\echo # The next one is ACTIVE; an attempt over its time is a TIMEOUT, and late reports are refused
\connect :client
select name, status, devices_total, devices_done, devices_failed from fleet.tasks order by created_at;
\connect :worker
select id as b02, attempt from fleet.claim_task_devices_for_pc('PC-02', 20) \gset
select timeout_at - started_at as timeout, lease_expires_at - started_at as lease from fleet.task_devices where id = :'b02';
select device_serial, status, lease_expires_at > now() + interval '5 min' as longer from fleet.renew_task_device_lease(:'b02', 'PC-02', lease => '10 min', attempt => 1);
do $$
begin
  while exists (select from fleet.task_devices where status = 'running') loop
    update fleet.workers set last_heartbeat = now();
    commit;
    perform fleet.fn_timeout_tasks_and_task_devices();
    commit;
    perform pg_sleep(0.05);
  end loop;
end $$;
select status, attempt, error from fleet.task_devices where id = :'b02';
select status is null as refused from fleet.complete_task_device(:'b02', 'PC-02', attempt => 1);
select status is null as refused from fleet.renew_task_device_lease(:'b02', 'PC-02', attempt => 1);
update fleet.workers set last_heartbeat = now();
select fleet.fn_timeout_tasks_and_task_devices();
select attempt from fleet.claim_task_devices_for_pc('PC-02', 20);
\echo which of the two attempts reports? who does not say is refused, too
select status is null as refused from fleet.complete_task_device(:'b02', 'PC-02');
select status is null as refused from fleet.fail_or_retry_task_device(:'b02', 'PC-02', 'late', 1);
select status, attempt from fleet.task_devices where id = :'b02';
do $$
begin
  loop
    update fleet.workers set last_heartbeat = now();
    commit;
    perform fleet.fn_timeout_tasks_and_task_devices();
    commit;
    exit when exists (select from fleet.task_devices where device_serial = 'b02' and status = 'failed');
    perform fleet.claim_task_devices_for_pc('PC-02', 20);
    commit;
    perform pg_sleep(0.05);
  end loop;
end $$;
select status, attempt, max_attempts, error from fleet.task_devices where id = :'b02';
select serial, status, error from fleet.devices where serial = 'b02';

\echo
\echo # The last one
select device_serial, device_target, d.status from fleet.claim_task_devices_for_pc('PC-02', 20) r, lateral (select status from fleet.complete_task_device(r.id, 'PC-02', attempt => r.attempt)) d;
select count(*) from fleet.claim_task_devices_for_pc('PC-01', 20);

\echo
\echo # Many devices gone at once are the fault of their hub: the PC is paused, no device is out
update fleet.devices set status = 'offline' where serial between 'a05' and 'a11';
select pc_id, status from fleet.workers where pc_id = 'PC-01';
select online_count, offline_count, error_count, eligible_device_count from fleet.pc_device_summary where pc_id = 'PC-01';
insert into fleet.devices (serial, pc_id) select 'a' || to_char(n, 'fm00'), 'PC-01' from generate_series(1, 23) n;
select online_count, offline_count, error_count from fleet.pc_device_summary where pc_id = 'PC-01';

\echo
\echo # What is not for plain SQL to say
\set ON_ERROR_STOP off
update fleet.task_devices set status = 'completed' where id = :'b02';
update fleet.devices set status = 'ERROR' where serial = 'a01';
insert into fleet.execution_logs (task_device_id, pc_id, attempt_no, event_type) values (:'b02', 'PC-02', 3, 'SUCCEEDED');
insert into fleet.tasks (name) values ('mine');
insert into fleet.devices (serial, pc_id) values ('no such!', 'PC-01');
insert into fleet.devices (serial, pc_id, labels) values ('a01', 'PC-01', '{"floor": 3}');
insert into fleet.devices (serial) values ('a01');
insert into fleet.workers (pc_id, max_devices) values ('PC-01', 0);
select fleet.complete_task_device('00000000-0000-7000-8000-000000000000', 'PC-01', attempt => 1);
select fleet.complete_task_device(:'b02', 'PC-09', attempt => 1);
select fleet.complete_task_device(:'b02', 'PC-02', attempt => 100000);
\connect :client
update fleet.tasks set status = 'running' where name = 'last';
insert into fleet.tasks (name, status) values ('mine', 'running');
select fleet.claim_task_devices_for_pc('PC-01', 1);
insert into fleet.tasks (name, target) values ('nowhere', '{"devices": ["z99"]}');
\set ON_ERROR_STOP on

\echo
\echo # The history: one set per attempt
select name, status, devices_total, devices_done, devices_failed, error from fleet.tasks order by created_at;
select t.name, d.serial, l.attempt_no, string_agg(l.event_type, ' ' order by l.id) from fleet.execution_logs l join fleet.tasks t on t.id = l.task_id join fleet.devices d on d.id = l.device_id
where d.serial in ('a01', 'a04', 'a05', 'b02') group by t.name, t.created_at, d.serial, l.attempt_no order by t.created_at, d.serial, l.attempt_no;
\echo runs whose attempts are not all told
select r.device_serial, n.attempt from fleet.task_devices r, generate_series(1, r.attempt) n (attempt)
where array(select l.event_type from fleet.execution_logs l where l.task_id = r.task_id and l.task_device_id = r.id and l.attempt_no = n.attempt and l.event_type in ('CREATED', 'SENT') order by l.id) <> '{CREATED,SENT}'
  or (select count(*) from fleet.execution_logs l where l.task_id = r.task_id and l.task_device_id = r.id and l.attempt_no = n.attempt and l.event_type in ('SUCCEEDED', 'FAILED', 'TIMEOUT')) <> 1
  or (select count(*) from fleet.execution_logs l where l.task_id = r.task_id and l.task_device_id = r.id and l.attempt_no = n.attempt and l.event_type in ('RETRY_SCHEDULED', 'FAILED_FINAL'))
    <> case when r.status = 'completed' and n.attempt = r.attempt then 0 else 1 end;
select l.event_type, l.attempt_no, l.pc_id, l.level, l.message from fleet.execution_logs l join fleet.devices d on d.id = l.device_id where d.serial = 'b02' and l.event_type in ('TIMEOUT', 'FAILED_FINAL', 'REFUSED') order by l.id;
