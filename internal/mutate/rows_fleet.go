package mutate

const fleetTests = "./internal/fleet"

// fleetRows are the guards of fleets.
var fleetRows = []Row{
	{
		"slots are counted under the PC's lock", "schema/functions/fleet/fleet_claim.sql",
		`where x.id = n.id for no key update;`, `where x.id = n.id;`,
		fleetTests, "TestSlotsAreCountedUnderThePCsLock",
	},
	{
		"there is no 21st slot", "schema/functions/fleet/fleet_claim.sql",
		`from weir.nodes x where x.id = n.id for no key update;`, `from weir.nodes x where x.id = n.id;`,
		fleetTests, "TestNo21stWhileAClaimIsOpen",
	},
	{
		"a repeated claim of a PC gets the same leases", "schema/functions/fleet/fleet_claim.sql",
		`if s.again then`, `if false then`,
		fleetTests, "TestClaimAgain",
	},
	{
		"a device runs one task", "schema/migrations/0011_fleets.sql",
		`create unique index running_device`, `create index running_device`,
		fleetTests, "TestTheIndexesOfFleets",
	},
	{
		"a claim leaves out a device that works", "schema/functions/fleet/_fleet_lease_units.sql",
		`
    on conflict (device) where device is not null do nothing`, ``,
		fleetTests, "TestAClaimLeavesOutADeviceThatWorks",
	},
	{
		"a health task leaves out a device that works", "schema/functions/fleet/_fleet_lease_checks.sql",
		`
    on conflict (device) where device is not null do nothing`, ``,
		fleetTests, "TestAClaimLeavesOutADeviceThatWorks",
	},
	{
		"one job of a lane is active", "schema/migrations/0031_fleet_answers.sql",
		`create unique index fleet_active`, `create index fleet_active`,
		fleetTests, "TestTheIndexesOfFleets",
	},
	{
		"a unit has one task", "schema/migrations/0011_fleets.sql",
		`create unique index fleet_units_task`, `create index fleet_units_task`,
		fleetTests, "TestTheIndexesOfFleets",
	},
	{
		"a failure by the infrastructure is for the live lease", "schema/functions/fleet/fleet_fail.sql",
		` and x.token = fleet_fail.token
    and x.device is not null`, ` and x.device is not null`,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"a failed clean-up is for the live lease", "schema/functions/fleet/fleet_unclean.sql",
		` and r.token = fleet_unclean.token`, ``,
		fleetTests, "TestAFailedCleanUp",
	},
	{
		"a success does not hide its failed clean-up", "schema/functions/fleet/_device_freed.sql",
		`if (x.unit).unclean is not null then`, `if false then`,
		fleetTests, "TestAFailedCleanUp",
	},
	{
		"the next attempt begins clean", "schema/functions/fleet/_fleet_lease_retries.sql",
		`, unclean = null`, ``,
		fleetTests, "TestAFailedCleanUp",
	},
	{
		"the time of commands is added to that of a run", "schema/functions/fleet/_fleet_lease_units.sql",
		`j.timeout + weir._fleet_around(j.spec)`, `j.timeout`,
		fleetTests, "TestTheTimeOfCommandsIsAdded",
	},
	{
		"a run goes to another device although its slot is the only one", "schema/functions/fleet/_fleet_pick_open.sql",
		`    order by x.id
  loop`, `    order by x.id limit room
  loop`,
		fleetTests, "TestPlacement",
	},
	{
		"a clean-up runs after every attempt", "internal/agent/attempt.go",
		`	at.cleanUp(&e)
`, ``,
		"./internal/agent", "TestCleanUpRunsHoweverARunEnds",
	},
	{
		"a set-up of an earlier process is not taken for the work", "internal/agent/attempt.go",
		`case !at.around.Power:`, `case false:`,
		"./internal/agent", "TestAgentIsRestartedDuringASetUp",
	},
	{
		"a power cycle of an earlier process begins again", "internal/agent/attempt.go",
		`case !at.around.Power:`, `default:`,
		"./internal/agent", "TestAgentIsRestartedDuringAPowerCycle",
	},
	{
		"agents hear of a power cycle", "schema/functions/fleet/_device_health.sql",
		`or powered then`, `then`,
		fleetTests, "TestAPowerCycleIsHeardOf",
	},
	{
		"a device that is away is not checked by itself", "schema/functions/fleet/_device_answer.sql",
		`d.health = 'quarantined' and d.online) then`, `d.health = 'quarantined') then`,
		fleetTests, "TestAnswers",
	},
	{
		"the first health task that matches counts", "schema/functions/fleet/_health_task.sql",
		`order by h.nth limit 1`, `order by h.nth desc limit 1`,
		fleetTests, "TestHealthTaskByLabel",
	},
	{
		"health tasks by label are bounded", "schema/functions/fleet/_health_check.sql",
		` or jsonb_array_length(health -> 'by_label') > 20`, ``,
		fleetTests, "TestHealthTaskByLabel",
	},
	{
		"a harmless failure is for the live lease", "schema/functions/fleet/fleet_fail.sql",
		` and x.token = fleet_fail.token) then`, `) then`,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"a PC reports of its own attempt", "schema/functions/fleet/_fleet_find_lease.sql",
		`if r.node = n.id
    and (of_attempt`, `if (of_attempt`,
		fleetTests, "TestAPCReportsOfItsOwnRuns",
	},
	{
		"a retired device needs a release", "schema/functions/fleet/_device_command.sql",
		`if d.health <> all (from_states) then`, `if false then`,
		fleetTests, "TestDeviceCommands",
	},
	{
		"a reserved device is not picked", "schema/functions/fleet/_fleet_pick.sql",
		` and d.reserved_by is null`, ``,
		fleetTests, "TestReservation",
	},
	{
		"a claim looks again whether a device is reserved", "schema/functions/fleet/fleet_claim.sql",
		`and d.reserved_by is null`, ``,
		fleetTests, "TestReservedUnderThePCsLock",
	},
	{
		"a reserved device keeps no job active", "schema/functions/fleet/_device_reason.sql",
		`when d.reserved_by is not null then`, `when false then`,
		fleetTests, "TestReservation",
	},
	{
		"a person does not reserve the device of another", "schema/functions/fleet/device_reserve.sql",
		`if d.reserved_by <> person then`, `if false then`,
		fleetTests, "TestReservationIsOnesOwn",
	},
	{
		"a person does not release the device of another", "schema/functions/fleet/device_release.sql",
		`and (mine or coalesce(others, false))`, `and true`,
		fleetTests, "TestReservationIsOnesOwn",
	},
	{
		"a reservation has an end", "schema/functions/fleet/device_reserve.sql",
		`if coalesce(device_reserve.until <= t, true) or device_reserve.until > t + interval '30 days' then`,
		`if false then`,
		fleetTests, "TestReservationIsOnesOwn",
	},
	{
		"the end of a reservation waits for no command", "schema/functions/fleet/_device_due.sql",
		`where x.reserved_until <= t order by x.id limit 500 for update skip locked`,
		`where x.reserved_until <= t order by x.id limit 500 for update`,
		fleetTests, "TestReservedUnderThePCsLock",
	},
	{
		"the end of maintenance waits for no command", "schema/functions/fleet/_device_due.sql",
		`where x.health_until <= t order by x.id limit 500 for update skip locked`,
		`where x.health_until <= t order by x.id limit 500 for update`,
		fleetTests, "TestReservedUnderThePCsLock",
	},
	{
		"what was read of a report is of its last upload", "schema/functions/fleet/test_report_read.sql",
		` and a.at = test_report_read.uploaded`, ``,
		fleetTests, "TestReportsAreReadAgain",
	},
	{
		"a report with a document type is refused", "internal/fleet/junit/junit.go",
		`return errors.New("it has a document type, which is refused")`, `continue`,
		"./internal/fleet/junit", "TestHostile",
	},
	{
		"a report is bounded in depth", "internal/fleet/junit/junit.go",
		`if p.depth++; p.depth > depthMost {`, `if p.depth++; false {`,
		"./internal/fleet/junit", "TestHostile",
	},
	{
		"set_slots takes the PC's lock", "schema/functions/fleet/set_slots.sql",
		` for no key update of n;`, `;`,
		fleetTests, "TestSlotsAreCountedUnderThePCsLock",
	},

	{
		"a drop-out counts losses", "schema/functions/fleet/_fleet_dropout.sql",
		`d.absent_at <= coalesce(d.missing_at, t) - interval '10 min'`, `true`,
		fleetTests, "TestADropOutCountsLosses",
	},
	{
		"a device that is out takes no part in a drop-out", "schema/functions/fleet/_fleet_dropout.sql",
		` and d.health not in ('quarantined', 'maintenance', 'retired')`, ``,
		fleetTests, "TestDevicesOutOfTheScheduleTakeNoPartInADropOut",
	},
	{
		"pauses are capped", "schema/functions/fleet/_fleet_dropout.sql",
		`(fresh or p.pauses < most) then`, `true then`,
		fleetTests, "TestPausesAreCapped",
	},
	{
		"a device that comes and goes stays suspect", "schema/functions/fleet/_device_worked.sql",
		`weir._device_flaps(d, t) is not true`, `true`,
		fleetTests, "TestFlaps",
	},
	{
		"what is lost with its PC is no flap", "schema/functions/fleet/_device_missing.sql",
		` or p.paused then x.flaps`, ` then x.flaps`,
		fleetTests, "TestFlaps",
	},
	{
		"a power cycle is no flap", "schema/functions/fleet/_device_missing.sql",
		`when p.powered or p.paused`, `when p.paused`,
		fleetTests, "TestADeviceIsAwayDuringItsPowerCycle",
	},
	{
		"a power cycle is no loss later on", "schema/functions/fleet/_device_missing.sql",
		` absent_at = case when p.powered then t else x.absent_at end,`, ``,
		fleetTests, "TestADeviceIsAwayDuringItsPowerCycle",
	},
	{
		"a power cycle takes no part in a drop-out", "schema/functions/fleet/_fleet_dropout.sql",
		`
      and not weir._device_powered(d.id) as away`, ` as away`,
		fleetTests, "TestADeviceIsAwayDuringItsPowerCycle",
	},
	{
		"a report does not cut off a power cycle", "schema/functions/fleet/fleet_report.sql",
		`
        and not weir._device_powered(d.id)`, ``,
		fleetTests, "TestADeviceIsAwayDuringItsPowerCycle",
	},
	{
		"time does not cut off a power cycle", "schema/functions/fleet/fleet_tend.sql",
		`
      and not weir._device_powered(d.id)`, ``,
		fleetTests, "TestADeviceIsAwayDuringItsPowerCycle",
	},
	{
		"only a health task has a power command", "schema/functions/fleet/_device_powered.sql",
		` and r.job is null`, ``,
		fleetTests, "TestARunIsNoPowerCycle",
	},
	{
		"a power cycle counts although it was cut off", "schema/functions/fleet/_device_checked.sql",
		` and not (powered and d.health = 'quarantined')`, ``,
		fleetTests, "TestF12APowerCycleCountsHoweverItEnds",
	},
	{
		"a power command that fails is the cause", "schema/functions/fleet/_fleet_fail_infrastructure.sql",
		`if not found and exists (`, `if false and exists (`,
		fleetTests, "TestF12APowerCycleCountsHoweverItEnds",
	},
	{
		"only a quarantined device is power-cycled", "schema/functions/fleet/_fleet_lease_checks.sql",
		`case when d.health = 'quarantined' then nullif(h.task -> 'power', 'null') end`, `nullif(h.task -> 'power', 'null')`,
		fleetTests, "TestPowerCommandOfAQuarantinedDevice",
	},
	{
		"the time of a power command is added to that of its health task", "schema/functions/fleet/_fleet_lease_checks.sql",
		`
        + weir._fleet_around(jsonb_build_object('setup', c.power))`, ``,
		fleetTests, "TestPowerCommandOfAQuarantinedDevice",
	},
	{
		"a power cycle is due at once", "schema/functions/fleet/_device_health.sql",
		` and not powered then`, ` then`,
		fleetTests, "TestPowerCommandOfAQuarantinedDevice",
	},
	{
		"a power command is a command", "schema/functions/fleet/_health_check.sql",
		`  perform weir._fleet_command(jsonb_build_object(field || '.power', health -> 'power'), field || '.power');
`, ``,
		fleetTests, "TestPowerCommandByLabel",
	},
	{
		"a power command stands beside the run", "schema/functions/fleet/_health_check.sql",
		`if health -> 'run' ? 'power' then`, `if false then`,
		fleetTests, "TestPowerCommandByLabel",
	},
	{
		"a health task waits until its device is back", "internal/agent/around.go",
		`if a.found(at.Device.Serial, since) {`, `if true {`,
		"./internal/agent", "TestAPowerCycleThatFails",
	},
	{
		"a health task finds its device at its new address", "internal/agent/attempt.go",
		`	if err := at.aim(&w); err != nil {
		return nil, err
	}
	at.hold(&w)`, `	at.hold(&w)`,
		"./internal/agent", "TestF12APowerCycleBringsADeviceBack",
	},
	{
		"a job does not wait for what comes too late", "schema/functions/fleet/_fleet_answer.sql",
		`when a.at <= coalesce(j.lingers_at, t) + j.linger then`, `when a.at > t then`,
		fleetTests, "TestAJobDoesNotWaitForWhatComesTooLate",
	},

	// Locks: what is read stays true until the commit, and transactions do not deadlock.
	{
		"a health task judges the device as it is", "schema/functions/fleet/_device_checked.sql",
		`where x.id = of_device for update;`, `where x.id = of_device;`,
		fleetTests, "TestDevicesAreJudgedUnderTheirLock",
	},
	{
		"a failed clean-up judges the device as it is", "schema/functions/fleet/_device_unclean.sql",
		`where x.id = of_device for update;`, `where x.id = of_device;`,
		fleetTests, "TestACleanUpIsJudgedUnderLocks",
	},
	{
		"a failed clean-up is for a lease that stays", "schema/functions/fleet/fleet_unclean.sql",
		`    and r.device is not null
  for no key update;`, `    and r.device is not null;`,
		fleetTests, "TestACleanUpIsJudgedUnderLocks",
	},
	{
		"a success judges the device as it is", "schema/functions/fleet/_device_worked.sql",
		`is not true for update;`, `is not true;`,
		fleetTests, "TestDevicesAreJudgedUnderTheirLock",
	},
	{
		"a failure judges the device as it is", "schema/functions/fleet/_fleet_failed.sql",
		`where x.id = of_device for update;`, `where x.id = of_device;`,
		fleetTests, "TestDevicesAreJudgedUnderTheirLock",
	},
	{
		"who restores devices judges them as they are", "schema/functions/fleet/_fleet_stop.sql",
		`order by x.id for update loop`, `order by x.id loop`,
		fleetTests, "TestDevicesAreJudgedUnderTheirLock",
	},
	{
		"a job that is stopped as bad is no evidence", "schema/functions/fleet/_fleet_stop.sql",
		`where q.job is distinct from of_job;`, `where true;`,
		fleetTests, "TestAStoppedJobIsNoEvidence",
	},
	{
		"a command judges the device as it is", "schema/functions/fleet/_device_locked.sql",
		`where x.id = d.id for update;`, `where x.id = d.id;`,
		fleetTests, "TestDevicesAreJudgedUnderTheirLock",
	},
	{
		"no claim takes a device that is put out", "schema/functions/fleet/_device_locked.sql",
		`perform from weir.nodes n where n.id = d.node for no key update;`, ``,
		fleetTests, "TestDevicesAreJudgedUnderTheirLock",
	},
	{
		"slots are reported under the PC's lock", "schema/functions/fleet/_pc_heartbeat.sql",
		`perform from weir.nodes x where x.id = n.id for no key update;`, ``,
		fleetTests, "TestThePCIsLockedBeforeItsDevices",
	},
	{
		"a report takes the PC's lock", "schema/functions/fleet/fleet_report.sql",
		`order by x.id for no key update;`, `order by x.id;`,
		fleetTests, "TestThePCIsLockedBeforeItsDevices",
	},
	{
		"a PC that sees a device takes its lock", "schema/functions/fleet/_fleet_report_device.sql",
		`perform from weir.nodes x where x.id in (n.id, o.id) order by x.id for no key update;`, ``,
		fleetTests, "TestThePCIsLockedBeforeItsDevices",
	},
	{
		"who loses a device takes the PC's lock", "schema/functions/fleet/_fleet_device_row.sql",
		` for no key update of x;`, `;`,
		fleetTests, "TestThePCIsLockedBeforeItsDevices",
	},
	{
		"a PC is locked before its worker", "schema/functions/fleet/_fleet_worker.sql",
		`perform from weir.nodes x where x.id = n.id for no key update;`, ``,
		fleetTests, "TestThePCIsLockedBeforeItsDevices",
	},
	{
		"a report locks devices in order", "schema/functions/fleet/fleet_report.sql",
		`perform from weir.devices d where d.id = any (absent || gone || known) order by d.id for update;`, ``,
		fleetTests, "TestDevicesAreLockedInOrder",
	},
	{
		"devices that stay away are locked in order", "schema/functions/fleet/_device_gone.sql",
		`perform from weir.devices d where d.id = any (ids) order by d.id for update;`, ``,
		fleetTests, "TestDevicesAreLockedInOrder",
	},
	{
		"a device that is back is not lost", "schema/functions/fleet/fleet_tend.sql",
		`where d.id = any (gone)) order by x.id
    for no key update;`, `where d.id = any (gone)) order by x.id;`,
		fleetTests, "TestThePassOfTheLeader",
	},
	{
		"the pass waits for no PC", "schema/functions/fleet/fleet_tend.sql",
		`for no key update of x skip locked`, `for no key update of x`,
		fleetTests, "TestThePassOfTheLeader",
	},
	{
		"one pass at a time", "schema/functions/fleet/fleet_tend.sql",
		`if not pg_try_advisory_xact_lock(89, 1) then`, `if false then`,
		fleetTests, "TestThePassOfTheLeader",
	},
	{
		"jobs are made active one by one", "schema/functions/fleet/_fleet_next.sql",
		`perform pg_advisory_xact_lock(89, weir._fleet_lane_key(of_lane));`, `null;`,
		fleetTests, "TestTheNextJobIsMadeActiveOnce",
	},
	{
		"a submission leaves it to whoever is at it", "schema/functions/fleet/_fleet_next.sql",
		`elsif not pg_try_advisory_xact_lock(89, weir._fleet_lane_key(of_lane)) then`, `elsif false then`,
		fleetTests, "TestTheNextJobIsMadeActiveOnce",
	},
	{
		"a job that is being canceled is not made active", "schema/functions/fleet/_fleet_hold.sql",
		`where l.job = of_job for update;`, `where l.job = of_job;`,
		fleetTests, "TestAJobWithUnitsIsMadeActiveUnderItsLock",
	},
	{
		"overlap plans behind whoever makes one active", "schema/functions/fleet/_fleet_overlap.sql",
		`perform pg_advisory_xact_lock(89, weir._fleet_lane_key(next.lane));`, ``,
		fleetTests, "TestOverlapPlansUnderTheJobsLock",
	},
	{
		"overlap plans no job that is being canceled", "schema/functions/fleet/_fleet_overlap.sql",
		`where l.job = next.job for update;`, `where l.job = next.job;`,
		fleetTests, "TestOverlapPlansUnderTheJobsLock",
	},
	{
		"a job is locked before it lingers", "schema/functions/fleet/_fleet_advance.sql",
		`where l.job = of_job for update;`, `where l.job = of_job;`,
		fleetTests, "TestAJobIsLockedBeforeItLingers",
	},
	{
		"the next job waits for nobody who cancels it", "schema/functions/fleet/_fleet_hold.sql",
		`set lock_timeout = '200ms'`, ``,
		fleetTests, "TestManyJobsAreCanceledInOneStatement",
	},
	{
		"who cancels the second job waits for no lease", "schema/functions/engine/cancel_job.sql",
		`current_setting('weir.cancels', true) is not distinct from pg_current_xact_id()::text, t);`, `false, t);`,
		fleetTests, "TestManyJobsAreCanceledInOneStatement",
	},
	{
		"a claim waits for no unit", "schema/functions/fleet/_fleet_lease_units.sql",
		`for update skip locked`, `for update`,
		fleetTests, "TestUnitsThatSomebodyHasAreLeft",
	},
	{
		"PCs take different units", "schema/functions/fleet/_fleet_pick_open.sql",
		`for update skip locked;`, `for update;`,
		fleetTests, "TestUnitsThatSomebodyHasAreLeft",
	},
	{
		"a repeated claim of a PC waits for the first", "schema/functions/fleet/fleet_claim.sql",
		`perform pg_advisory_xact_lock(88, w.id);`, `null;`,
		fleetTests, "TestARepeatedClaimOfAPC",
	},
	{
		"a repeated claim of a PC gets its own leases", "schema/functions/fleet/_fleet_leases_of_claim.sql",
		` and r.token = fence`, ``,
		fleetTests, "TestARepeatedClaimOfAPC",
	},
	{
		"a PC reports of a lease as it is", "schema/functions/fleet/_fleet_find_lease.sql",
		`where x.task = of_task for update;`, `where x.task = of_task;`,
		fleetTests, "TestAReportIsForTheLeaseAsItIs",
	},
	{
		"the policy of the fleet is changed as it is", "schema/functions/fleet/set_fleet_policy.sql",
		`from weir.fleet_policy for update;`, `from weir.fleet_policy;`,
		fleetTests, "TestThePolicyIsChangedUnderItsLock",
	},
	{
		"a forward is for the person who has the device", "schema/functions/fleet/forward_open.sql",
		`if not coalesce(weir._forward_held(d, person, t), false) then`, `if false then`,
		fleetTests, "TestF11AForwardIsForTheHolder",
	},
	{
		"a forward disturbs no run", "schema/functions/fleet/forward_open.sql",
		`if exists (select from weir.running r where r.device = d.id) then`, `if false then`,
		fleetTests, "TestF11AForwardIsForTheHolder",
	},
	{
		"a forward leads to a port that the PC allows", "schema/functions/fleet/forward_open.sql",
		`if not p.forwards @> forward_open.port then`, `if false then`,
		fleetTests, "TestF11AForwardIsForTheHolder",
	},
	{
		"a forward ends with the reservation", "schema/functions/fleet/forward_keep.sql",
		`when not f.forced and not coalesce(weir._forward_held(d, f.person, t), false) then 'reservation'`,
		`when false then 'reservation'`,
		fleetTests, "TestF11AForwardEnds",
	},
	{
		"a forward is for the agent of its PC", "schema/functions/fleet/forward_refuse.sql",
		`    and f.node = (select x.id from weir.nodes x where x.name = forward_refuse.pc);`, `    and true;`,
		fleetTests, "TestAForwardIsRefusedByItsPC",
	},
	{
		"the spans of a device are bounded", "schema/functions/fleet/_device_spanned.sql",
		`offset most - 1 limit 1`, `offset 100000 limit 1`,
		fleetTests, "TestDeviceSpansAreBounded",
	},
	{
		"a device is in one state", "schema/migrations/0040_device_spans.sql",
		`create unique index device_spans_open`, `create index device_spans_open`,
		fleetTests, "TestDeviceSpansAreBounded",
	},
	{
		"only the agent of its PC takes up a forward", "internal/fleet/forward/broker.go",
		`if s.pc != pc {`, `if false {`,
		"./internal/fleet/forward", "TestIdleForwardEnds",
	},
}
