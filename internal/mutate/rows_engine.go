package mutate

const engineTests = "./internal/engine/enginetest"

// engineRows are the guards of tasks, gates, leases and the timeline.
var engineRows = []Row{
	// What ends a job outlives its cancel.
	{
		"a cancel leaves what ends the job", "schema/functions/engine/_canceled_tasks.sql",
		` and (stops or q.rule is distinct from 'finally')`, ``,
		"./internal/workflow", "TestFinally",
	},
	{
		"a cancel that is repeated at once is the first one", "schema/functions/engine/cancel_job.sql",
		`j.cancel_at <= t - interval '3 seconds'`, `j.cancel_at <= t`,
		"./internal/workflow", "TestSecondCancel",
	},
	{
		"the sweep leaves what ends the job until it is canceled again", "schema/functions/engine/tend.sql",
		`weir._has_waiting(j.job, j.stop_at is not null)`, `weir._has_waiting(j.job)`,
		"./internal/workflow", "TestSecondCancel",
	},
	{
		"what ends a canceled job is planned", "schema/functions/flow/workflow_plan.sql",
		`(l.cancel_at is null or w.rule = 'finally' and l.stop_at is null)`, `l.cancel_at is null`,
		"./internal/workflow", "TestFinally",
	},
	{
		"what ends a job runs again with a part of it", "schema/functions/engine/_revivable.sql",
		`or not parts[j] and ends[d] and outcomes[d] is not null`, ``,
		"./internal/workflow", "TestFinally",
	},
	{
		"the job of a schedule keeps its zone", "schema/functions/flow/_fire_workflow.sql",
		`|| jsonb_build_object('zone', s.zone)`, ``,
		"./internal/workflow", "TestZone",
	},
	// Every call of a worker carries (task, attempt, token).
	{
		"finish checks the token", "schema/functions/engine/finish_many.sql",
		` and r.token = g.token`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"finish checks the attempt", "schema/functions/engine/finish_many.sql",
		` and r.attempt = g.attempt`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"fail checks the token", "schema/functions/engine/fail_many.sql",
		` and r.token = g.token`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"fail checks the attempt", "schema/functions/engine/fail_many.sql",
		` and r.attempt = g.attempt`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"give back checks the token", "schema/functions/engine/give_back_many.sql",
		` and r.token = g.token`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"give back checks the attempt", "schema/functions/engine/give_back_many.sql",
		` and r.attempt = g.attempt`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{"renew checks the token", "schema/functions/engine/renew.sql", ` and r.token = g.token`, ``, engineTests, "TestR4StaleTokenChangesNothing"},
	{
		"renew checks the attempt", "schema/functions/engine/renew.sql",
		` and r.attempt = g.attempt`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"start checks the token", "schema/functions/engine/start_many.sql",
		` and r.token = g.token`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"start checks the attempt", "schema/functions/engine/start_many.sql",
		` and r.attempt = g.attempt`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"confirm_cancel checks the token", "schema/functions/engine/confirm_cancel.sql",
		` and x.token = confirm_cancel.token
    and x.cancel_at is not null`, ` and x.cancel_at is not null`,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"confirm_cancel says why only to the live lease", "schema/functions/engine/confirm_cancel.sql",
		` and x.token = confirm_cancel.token) then`, `) then`,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"confirm_cancel needs a request", "schema/functions/engine/confirm_cancel.sql",
		` and x.cancel_at is not null`, ``,
		engineTests, "TestTransitionMatrix",
	},
	{
		"record checks the token", "schema/functions/engine/record.sql",
		` and x.token = record.token`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"record checks the attempt", "schema/functions/engine/record.sql",
		` and x.attempt = record.attempt`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"record_artifact checks the token", "schema/functions/flow/record_artifact.sql",
		` and x.token = record_artifact.token`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"record_artifact checks the attempt", "schema/functions/flow/record_artifact.sql",
		` and x.attempt = record_artifact.attempt`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"leased checks the token", "schema/functions/engine/leased.sql",
		` and r.token = leased.token`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"leased checks the attempt", "schema/functions/engine/leased.sql",
		` and r.attempt = leased.attempt`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{"leased checks the node", "schema/functions/engine/leased.sql", ` and n.name = leased.node`, ``, engineTests, "TestALeaseBelongsToItsNode"},
	{
		"inputs are for the lease", "schema/functions/flow/inputs.sql",
		`from weir.leased(inputs.node, inputs.task, inputs.attempt, inputs.token)`,
		`from weir.leased(inputs.node, inputs.task, inputs.attempt, (select r.token from weir.running r where r.task = inputs.task))`,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"foreign_leases checks the node", "schema/functions/engine/foreign_leases.sql",
		`where r.node is distinct from (select n.id from weir.nodes n where n.name = foreign_leases.node)`, `where false`,
		engineTests, "TestALeaseBelongsToItsNode",
	},
	{
		"foreign_leases checks the token", "schema/functions/engine/foreign_leases.sql",
		` and r.token = g.token`, ``,
		engineTests, "TestALeaseBelongsToItsNode",
	},
	{
		"a refusal is recorded", "schema/functions/engine/_refuse.sql",
		`from g where g.refusal = 'lease_lost'`, `from g where false`,
		engineTests, "TestR4RefusalsAreRecorded",
	},

	// Claims.
	{
		"a claim locks what it takes", "schema/functions/engine/claim.sql",
		`for update skip locked`, ``,
		engineTests, "TestClaimsTakeWhatOthersDoNot",
	},
	{
		"a claim skips what others take", "schema/functions/engine/claim.sql",
		`for update skip locked`, `for update`,
		engineTests, "TestClaimsTakeWhatOthersDoNot",
	},
	{
		"a repeated claim waits for the first", "schema/functions/engine/claim.sql",
		`perform pg_advisory_xact_lock(88, w.id);`, ``,
		engineTests, "TestR3LostReply",
	},
	{
		"a repeated claim gets the same leases", "schema/functions/engine/claim.sql",
		`if w.last_claim = claim_id then`, `if false then`,
		engineTests, "TestR3LostReply",
	},
	{
		"a repeated claim gets its own leases", "schema/functions/engine/_leases_of_claim.sql",
		` and r.token = fence`, ``,
		engineTests, "TestARepeatedClaimGetsItsOwnLeases",
	},
	{
		"a repeated claim gets leases of its worker", "schema/functions/engine/_leases_of_claim.sql",
		`r.worker = of_worker and `, ``,
		engineTests, "TestARepeatedClaimGetsItsOwnLeases",
	},
	{
		"a claim locks its node", "schema/functions/engine/claim.sql",
		`where x.id = w.node for no key update`, `where x.id = w.node`,
		engineTests, "TestNodeCapacity",
	},
	{
		"a claim counts the capacity of its node", "schema/functions/engine/claim.sql",
		`least(f,
        (nd.capacity ->> s)::int
          -`, `least(f, 1000 -`,
		engineTests, "TestNodeCapacity",
	},
	{
		"a claim asks for the node's mode", "schema/functions/engine/claim.sql",
		`if nd.mode <> 'active' and`, `if false and`,
		engineTests, "TestAPausedNodeClaimsNothing",
	},
	{
		"a claim serves its labels", "schema/functions/engine/claim.sql",
		`where s.free > 0 and c.labels <@ has`, `where s.free > 0`,
		engineTests, "TestLabels",
	},
	{
		"a claim keeps its lease's length positive", "schema/functions/engine/claim.sql",
		` or coalesce(lease, '0') <= interval '0'`, ``,
		engineTests, "TestBadInput",
	},
	{
		"a plain claim takes no work of the fleet", "schema/functions/engine/claim.sql",
		`if 'fleet' = any (services) then`, `if false then`,
		"./internal/fleet", "TestPlainClaimIsRefused",
	},

	// Leases that end.
	{
		"expiry asks whether the lease is over", "schema/functions/engine/_expire.sql",
		`x.until < t or x.deadline < t`, `true`,
		engineTests, "TestR14DatabaseClock",
	},
	{
		"expiry locks what it ends", "schema/functions/engine/_expire.sql",
		`limit n for update skip locked`, `limit n`,
		engineTests, "TestExpiryWaitsForNobody",
	},
	{
		"expiry ends an attempt at its deadline", "schema/functions/engine/_expire.sql",
		` or x.deadline < t`, ``,
		engineTests, "TestAttemptsAreCounted",
	},
	{
		"three lost workers are poison", "schema/functions/engine/_expire.sql",
		`strikes >= 3`, `strikes >= 300`,
		engineTests, "TestR15PoisonIsQuarantined",
	},
	{
		"an outage of the same node is no poison", "schema/functions/engine/_strike.sql",
		`when early or place <> all (f.places) then f.strikes + 1 else f.strikes end`, `else f.strikes + 1 end`,
		engineTests, "TestR15OutagesOfOneNodeAreNoPoison",
	},
	{
		"each node that is lost counts", "schema/functions/engine/_strike.sql",
		`when early or place <> all (f.places) then`, `when early then`,
		engineTests, "TestR15ThreeNodesArePoison",
	},
	{
		"a quick death counts", "schema/functions/engine/_strike.sql",
		`when early or place <> all (f.places) then`, `when place <> all (f.places) then`,
		engineTests, "TestR15QuickDeathsArePoison",
	},
	{
		"an hour of healthy running is forgiving", "schema/functions/engine/_strike.sql",
		`strikes = case when healthy then 1 when`, `strikes = case when`,
		engineTests, "TestR15HealthyRunningIsForgiving",
	},
	{
		"work that breaks every node is not handed back for ever", "schema/functions/engine/give_back_many.sql",
		`broke > weir._fault_limit()`, `false`,
		engineTests, "TestFaultsThatTheWorkCauses",
	},
	{
		"a task does not wait for one broken node of two", "schema/functions/engine/_why_unclaimed.sql",
		`elsif able = idle + broken then`, `elsif broken > 0 or able = idle then`,
		engineTests, "TestFaultsOfANode",
	},
	{
		"a worker that stops may keep its work", "schema/functions/engine/stop_worker.sql",
		`if stop_worker.keep then`, `if false then`,
		engineTests, "TestStopKeepsWork",
	},
	{
		"orphans stop where they should", "schema/functions/engine/_expire.sql",
		`if r.orphan_stops or strikes`, `if strikes`,
		engineTests, "TestOrphanStop",
	},
	{"attempts are counted", "schema/functions/engine/_fail.sql", `spent >= q.max_attempts`, `false`, engineTests, "TestAttemptsAreCounted"},
	{
		"a lost worker spends no attempt", "schema/functions/engine/_fail.sql",
		`spent := r.attempt - q.forgiven;`, `spent := r.attempt;`,
		engineTests, "TestAttemptsAreCounted",
	},
	{
		"a failure of a canceled task cancels it", "schema/functions/engine/_fail.sql",
		`if r.cancel_at is not null then`, `if false then`,
		engineTests, "TestAttemptsAreCounted",
	},
	{
		"a renewed lease never gets shorter", "schema/functions/engine/renew.sql",
		`greatest(r.until, t + lease)`, `t + lease`,
		engineTests, "TestALeaseIsNeverCutShort",
	},
	{
		"only the owner sets the clock", "schema/functions/engine/_clock.sql",
		`else weir._set_clock(at) end`, `else at end`,
		engineTests, "TestR14DatabaseClock",
	},

	// The timeline.
	{
		"an event comes behind what had ended before it", "schema/functions/engine/_event_xid.sql",
		`greatest(pg_current_xact_id()::text::bigint, pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1)`, `pg_current_xact_id()::text::bigint`,
		engineTests, "TestR8ReadersSeeATaskInOrder",
	},
	{
		"an event looks at what has ended now", "schema/functions/engine/_event_xid.sql",
		`language plpgsql volatile`, `language plpgsql stable`,
		engineTests, "TestR8ReadersSeeATaskInOrder",
	},

	// Gates.
	{
		"a pool is counted under its lock", "schema/functions/engine/_open_pools.sql",
		`names := held
    || weir._lock_keys(array(select n from unnest(names) n where held is null or n <> all (held)), false, patient, t);`, ``,
		engineTests, "TestR7FourOpeners",
	},
	{
		"keys are opened by who has their lock", "schema/functions/engine/_lock_keys.sql",
		` and pg_try_advisory_xact_lock(case when lane then 94 else 95 end, hashtext(k.key))`, ``,
		engineTests, "TestR7FourOpeners",
	},
	{
		"a key is taken beside whole buckets", "schema/functions/engine/_lock_keys.sql",
		`pg_try_advisory_xact_lock_shared(87, k.bucket)
        and `, ``,
		engineTests, "TestKeysAndBucketsExclude",
	},
	{
		"a bucket is whole for who has it alone", "schema/functions/engine/_lock_keys.sql",
		`whole := pg_try_advisory_xact_lock(87, at);`, `whole := true;`,
		engineTests, "TestKeysAndBucketsExclude",
	},
	{
		"who waits for a key has its lock afterwards", "schema/functions/engine/_wait_for_keys.sql",
		`perform pg_advisory_xact_lock(case when lane then 94 else 95 end, hashtext(k.key));`, ``,
		engineTests, "TestKeysAndBucketsExclude",
	},
	{
		"who waits for a key waits for its bucket", "schema/functions/engine/_wait_for_keys.sql",
		`perform pg_advisory_xact_lock_shared(87, k.bucket);`, ``,
		engineTests, "TestKeysAndBucketsExclude",
	},
	{
		"who waits for a bucket has it alone afterwards", "schema/functions/engine/_wait_for_keys.sql",
		`perform pg_advisory_xact_lock(87, k.bucket);`, `null;`,
		engineTests, "TestKeysAndBucketsExclude",
	},
	{
		"a claim takes no row that another one takes", "schema/functions/engine/_pick.sql",
		`where a.ctid = c.row for update skip locked) l limit n`, `where a.ctid = c.row) l limit n`,
		engineTests, "TestAClaimLocksWhatItTakes",
	},
	{
		"a horizon is taken before anything is written", "schema/functions/engine/_take_horizon.sql",
		`pg_current_xact_id_if_assigned() is not null or `, ``,
		engineTests, "TestOneTakesTheHorizon",
	},
	{
		"two who adopt a restore do it once", "schema/functions/engine/adopt_restore.sql",
		`perform pg_advisory_xact_lock(86, 2);`, ``,
		engineTests, "TestOneAdoptsARestore",
	},
	{
		"a cursor that is ahead is refused", "schema/functions/engine/events_after.sql",
		`after_xid >= pg_snapshot_xmin(pg_current_snapshot())::text::bigint
    or `, ``,
		engineTests, "TestADatabaseFromADumpGoesOn",
	},
	{
		"a lane is opened under its lock", "schema/functions/engine/_open.sql",
		`todo := case when locked then lanes else weir._lock_keys(lanes, true, patient, t) end;`, `todo := lanes;`,
		engineTests, "TestOpenersWaitForNobody",
	},
	{
		"a lane holds for who is running", "schema/functions/engine/_open.sql",
		`(select h.exclusive or o.exclusive from weir.running o where o.lane = h.lane limit 1) is not true`, `true`,
		engineTests, "TestEachGateAlone",
	},
	{
		"a lane holds for who may start", "schema/functions/engine/_open.sql",
		`(select h.exclusive or o.exclusive from weir.available o where o.lane = h.lane limit 1) is not true`, `true`,
		engineTests, "TestEachGateAlone",
	},
	{
		"a lane holds for who waits at a pool", "schema/functions/engine/_open.sql",
		`(select h.exclusive or o.exclusive from weir.pending o
          where o.lane = h.lane and o.gate = 'pool' limit 1) is not true`, `true`,
		engineTests, "TestAFailedRankNeedsADecision",
	},
	{
		"a rank waits for lower ranks that wait", "schema/functions/engine/_open.sql",
		`select from weir.pending o where o.lane = h.lane and o.rank < h.rank`, `select from weir.pending o where false`,
		engineTests, "TestAFailedRankNeedsADecision",
	},
	{
		"a rank waits for lower ranks that run", "schema/functions/engine/_open.sql",
		`select from weir.running o where o.lane = h.lane and o.rank < h.rank`, `select from weir.running o where false`,
		engineTests, "TestEachGateAlone",
	},
	{
		"a rank waits for a decision about lower ranks", "schema/functions/engine/_open.sql",
		`select from weir.lane_blocks o where o.lane = h.lane and o.rank < h.rank`, `select from weir.lane_blocks o where false`,
		engineTests, "TestAFailedRankNeedsADecision",
	},
	{
		"a pool counts what may start", "schema/functions/engine/_open_pools.sql",
		`(select count(*) from weir.available a where a.pool = k.name)`, `0`,
		engineTests, "TestAPoolThatIsNotCountedYetHolds",
	},
	{
		"a pool counts what runs", "schema/functions/engine/_open_pools.sql",
		`(select count(*) from weir.running r where r.pool = k.name)`, `0`,
		engineTests, "TestAPoolThatIsNotCountedYetHolds",
	},
	{
		"drop_pool takes the pool's lock", "schema/functions/engine/drop_pool.sql",
		`perform weir._hold_keys(array[drop_pool.name], false);`, ``,
		engineTests, "TestAPoolIsDroppedWhenNobodyIsInIt",
	},

	// Jobs.
	{
		"a job is locked before its tasks are taken", "schema/functions/engine/_remove_waiting.sql",
		`perform from weir.job_live j where j.job = q.job for update;`, ``,
		engineTests, "TestTheJobIsLockedBeforeItsTasks",
	},
	{
		"a job is locked before a retry", "schema/functions/engine/retry.sql",
		`where q.id = retry.task) for update;`, `where q.id = retry.task);`,
		engineTests, "TestTheJobIsLockedBeforeItsTasks",
	},
	{
		"a job is locked before a skip", "schema/functions/engine/skip.sql",
		`where q.id = skip.task) for update;`, `where q.id = skip.task);`,
		engineTests, "TestTheJobIsLockedBeforeItsTasks",
	},
	{
		"a job is locked before its retry", "schema/functions/engine/retry_job.sql",
		`where x.job = retry_job.job for update;`, `where x.job = retry_job.job;`,
		engineTests, "TestTheJobIsLockedBeforeItsTasks",
	},
	{
		"who joins a job locks it", "schema/functions/engine/add_tasks.sql",
		`where x.job = add_tasks.job for update;`, `where x.job = add_tasks.job;`,
		engineTests, "TestLocksAreHeld",
	},
	{
		"a job that is being canceled takes no tasks", "schema/functions/engine/add_tasks.sql",
		`if l.job is null or l.cancel_at is not null then`, `if l.job is null then`,
		engineTests, "TestGrowRefusals",
	},
	{
		"a job has a limit of tasks", "schema/functions/engine/add_tasks.sql",
		`if l.total + cardinality(new_specs) > most then`, `if false then`,
		engineTests, "TestGrowRefusals",
	},
	{
		"only a task at the gate plan is planned", "schema/functions/engine/_lock_at_plan.sql",
		`if p.gate is distinct from 'plan' then`, `if p.task is null then`,
		engineTests, "TestPlanTask",
	},
	{
		"a job is locked while a task of it is planned", "schema/functions/engine/_lock_at_plan.sql",
		`perform from weir.job_live j where j.job = q.job for update;`, ``,
		engineTests, "TestATaskIsPlannedUnderItsJobsLock",
	},

	// Keys.
	{
		"an idempotency key is one task", "schema/functions/engine/_deduplicate.sql",
		`coalesce(nullif(k.id, x.id), nullif(u.task, x.id))`, `nullif(u.task, x.id)`,
		engineTests, "TestIdempotency",
	},
	{
		"a unique key is one live task", "schema/functions/engine/_deduplicate.sql",
		`coalesce(nullif(k.id, x.id), nullif(u.task, x.id))`, `nullif(k.id, x.id)`,
		engineTests, "TestUniqueKey",
	},
	{
		"a retry asks for the unique key", "schema/functions/engine/retry.sql",
		`select u.task into holder from weir.unique_keys u where u.service = name.service and u.key = name.key;`, `holder := retry.task;`,
		engineTests, "TestUniqueKey",
	},
	{
		"the end of a task frees its unique key", "schema/functions/engine/finish_many.sql",
		`delete from weir.unique_keys u where u.task = any (keyed);`, `null;`,
		engineTests, "TestTheEndOfATaskFreesItsUniqueKey",
	},

	// The timeline.
	{
		"a cursor stays behind open transactions", "schema/functions/engine/events_after.sql",
		` and e.xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint`, ``,
		engineTests, "TestR8CursorMissesNothing",
	},
	{
		"the tail stays behind open transactions", "schema/functions/engine/events_tail.sql",
		`pg_snapshot_xmin(pg_current_snapshot())`, `pg_snapshot_xmax(pg_current_snapshot())`,
		engineTests, "TestTheTailStaysBehindOpenTransactions",
	},
	{
		"the tally stays behind open transactions", "schema/functions/engine/tally.sql",
		` and e.xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint`, ``,
		"./internal/engine", "TestTheTallyWaitsForTransactionsUnderWay",
	},
	{
		"a finish writes its event", "schema/functions/engine/finish_many.sql",
		`array_agg(d.task) from d group by d.worker, d.attempt, d.job`,
		`array_agg(d.task) from d where false group by d.worker, d.attempt, d.job`,
		engineTests, "TestR8EveryMoveHasItsEvent",
	},
	{
		"partitions are made one by one", "schema/functions/engine/ensure_partitions.sql",
		`perform pg_advisory_xact_lock(85, 0);`, ``,
		engineTests, "TestLocksAreHeld",
	},
	{
		"partitions are dropped one by one", "schema/functions/engine/drop_partitions.sql",
		`perform pg_advisory_xact_lock(85, 0);`, ``,
		engineTests, "TestLocksAreHeld",
	},

	// Workers and nodes.
	{
		"two processes of one name are refused", "schema/functions/engine/register_worker.sql",
		`if was.holder is not null and was.holder is distinct from`, `if false and was.holder is distinct from`,
		engineTests, "TestTwoProcessesOfOneName",
	},
	{
		"two who register at once see each other", "schema/functions/engine/register_worker.sql",
		`where x.name = register_worker.name for no key update;`, `where x.name = register_worker.name;`,
		engineTests, "TestTwoProcessesOfOneName",
	},
	{
		"a node that is alive stays", "schema/functions/engine/drop_node.sql",
		`if n.seen_at > t - interval '30 s'
    and`, `if false and`,
		"./internal/node", "TestDropNode",
	},
	{
		"a node that holds tasks stays", "schema/functions/engine/drop_node.sql",
		`if held > 0 then`, `if false then`,
		"./internal/node", "TestDropNode",
	},
	{
		"a node is no more than its token says", "schema/functions/engine/_bound_capacity.sql",
		`case when most is null then says`, `case when true then says`,
		engineTests, "TestANodeIsBoundByItsToken",
	},
}
