-- What seldom happens to a fleet, by schema fleet. The owner sets the clock and the policy, the rest is plain SQL. What it prints is edges.out.
\pset format unaligned
\pset tuples_only on
\set ON_ERROR_STOP on
\set VERBOSITY sqlstate

\echo # A PC dies: what it ran is tried again and spends no attempt, and what it reports later is refused
\connect :worker
insert into fleet.workers (pc_id) values ('PC-01') returning pc_id, max_devices, status;
insert into fleet.devices (serial, pc_id) values ('c1', 'PC-01');
\connect :client
insert into fleet.tasks (name, config) values ('first', '{"backoff": "0s"}') returning status;
\connect :worker
select id as c1 from fleet.claim_task_devices_for_pc('PC-01') \gset
\connect :owner
select fleet.fn_timeout_tasks_and_task_devices(at => now() + interval '46 s');
select fleet.fn_timeout_tasks_and_task_devices(at => now() + interval '46 s');
select status, attempt, max_attempts, error from fleet.task_devices where id = :'c1';
select status from fleet.devices where serial = 'c1';
\connect :worker
select status is null as refused from fleet.complete_task_device(:'c1', 'PC-01', attempt => 1);
select status is null as refused from fleet.complete_task_device(:'c1', 'PC-01');
select count(*) from fleet.claim_task_devices_for_pc('PC-01');
insert into fleet.devices (serial, pc_id) values ('c1', 'PC-01') returning status;
select attempt, max_attempts from fleet.claim_task_devices_for_pc('PC-01');
select status is null as refused from fleet.complete_task_device(:'c1', 'PC-01', attempt => 1);
insert into fleet.execution_logs (task_device_id, pc_id, attempt_no, event_type) values (:'c1', 'PC-01', 1, 'late');
select status, attempt from fleet.complete_task_device(:'c1', 'PC-01', attempt => 2);
\echo the same again
select status, attempt from fleet.complete_task_device(:'c1', 'PC-01', attempt => 2);
select status, attempt from fleet.complete_task_device(:'c1', 'PC-01');
select status is null as refused from fleet.fail_or_retry_task_device(:'c1', 'PC-01', 'no', 2);

\echo
\echo # A run that is cancelled
\connect :client
insert into fleet.tasks (name) values ('second');
\connect :worker
select id as c1 from fleet.claim_task_devices_for_pc('PC-01') \gset
\connect :client
update fleet.tasks set status = 'cancelled' where name = 'second';
select name, status from fleet.tasks where name = 'second';
\connect :worker
select status, cancel_requested from fleet.renew_task_device_lease(:'c1', 'PC-01', attempt => 1);
select status from fleet.fail_or_retry_task_device(:'c1', 'PC-01', 'stopped', 1);

\echo
\echo # A device that moves takes its run along, which spends no attempt
\connect :client
insert into fleet.tasks (name, config) values ('third', '{"backoff": "0s"}');
\connect :worker
select id as c1 from fleet.claim_task_devices_for_pc('PC-01') \gset
insert into fleet.workers (pc_id, max_devices) values ('PC-02', 5) returning max_devices, device_capacity;
\set ON_ERROR_STOP off
insert into fleet.devices (serial, pc_id) values ('c1', 'PC-02');
\set ON_ERROR_STOP on
update fleet.devices set status = 'offline' where serial = 'c1' returning status;
insert into fleet.devices (serial, pc_id, target) values ('c1', 'PC-02', '192.0.2.9:5555') returning pc_id, status, target;
select pc_id, status, attempt, max_attempts, error from fleet.task_devices where id = :'c1';
select status is null as refused from fleet.complete_task_device(:'c1', 'PC-01', attempt => 1);
select fleet.fn_timeout_tasks_and_task_devices();
select pc_id, attempt, device_target, d.status from fleet.claim_task_devices_for_pc('PC-02') r, lateral (select status from fleet.complete_task_device(r.id, 'PC-02')) d;

\echo
\echo # A health task comes first; it belongs to no task
\connect :owner
select weir.set_fleet_policy('{"health": {"run": {"argv": ["./health.sh"]}}}') is not null;
\connect :worker
insert into fleet.devices (serial, pc_id, labels) values ('c2', 'PC-02', '{"model": "kiosk"}') returning status, labels;
select pc_id, device_count, eligible_device_count from fleet.pc_device_summary where pc_id = 'PC-02';
select id as c2, task_id is null as no_task, device_serial, run -> 'argv' as argv from fleet.claim_task_devices_for_pc('PC-02', 5) \gset
select :'device_serial', :'no_task', :'argv';
select id = :'c2', status from fleet.complete_task_device(:'c2', 'PC-02', attempt => 1);
select count(*) from fleet.task_devices where id = :'c2';
select pc_id, device_count, eligible_device_count from fleet.pc_device_summary where pc_id = 'PC-02';

\echo
\echo # A retired device is not to be seen
\connect :owner
select weir.device_retire('c2', 'ann', 'broken');
\connect :worker
insert into fleet.devices (serial, pc_id) values ('c2', 'PC-02') returning serial;
select serial from fleet.devices;

\echo
\echo # The history
\connect :client
select name, status, config, timeout from fleet.tasks order by created_at;
select t.name, l.attempt_no, string_agg(l.event_type || coalesce(' at ' || l.pc_id, ''), ', ' order by l.id) from fleet.execution_logs l join fleet.tasks t on t.id = l.task_id
group by t.name, t.created_at, l.attempt_no order by t.created_at, l.attempt_no;
