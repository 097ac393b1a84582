package mutate

// lockRows are the guards of the engine against concurrent transactions: marks and locks.
var lockRows = []Row{
	// Marks of classes and pools (docs/decisions/0019).
	{
		"a class is marked below every open transaction", "schema/functions/engine/_mark_classes.sql",
		`select pg_snapshot_xmin(x)::text`, `select pg_snapshot_xmax(x)::text`,
		engineTests, "TestR2AMarkWaitsForOpenTransactions",
	},
	{
		"a pool is marked below every open transaction", "schema/functions/engine/_mark_pools.sql",
		`select pg_snapshot_xmin(x)::text`, `select pg_snapshot_xmax(x)::text`,
		engineTests, "TestR2AMarkWaitsForOpenTransactions",
	},
	{
		"what came under a class is said again after a mark", "schema/functions/engine/_mark_classes.sql",
		`perform set_config('weir.came', '', true);`, ``,
		engineTests, "TestWhatIsSaidIsSaidAgainAfterAMark",
	},
	{
		"what came to a pool is said again after a mark", "schema/functions/engine/_mark_pools.sql",
		`perform set_config('weir.waits', '', true);`, ``,
		engineTests, "TestWhatIsSaidIsSaidAgainAfterAMark",
	},
	{
		"a claim sees through a class mark of another cluster", "schema/functions/engine/claim.sql",
		`case when c.opened_mark > newest then 0 else c.opened_mark end`, `c.opened_mark`,
		engineTests, "TestAMarkOfAnotherClusterHidesNothing",
	},
	{
		"an opening sees through a pool mark of another cluster", "schema/functions/engine/_open_pools.sql",
		`case when p.mark > newest then 0 else p.mark end`, `p.mark`,
		engineTests, "TestAMarkOfAnotherClusterHidesNothing",
	},
	{
		"a class is marked anew in another cluster", "schema/functions/engine/_mark_classes.sql",
		`case when c.opened_mark > s.xmax then 0 else c.opened_mark end`, `c.opened_mark`,
		engineTests, "TestAMarkOfAnotherClusterHidesNothing",
	},
	{
		"a pool is marked anew in another cluster", "schema/functions/engine/_mark_pools.sql",
		`p.held is null or p.mark > s.xmax then 0`, `p.held is null then 0`,
		engineTests, "TestAMarkOfAnotherClusterHidesNothing",
	},
	{
		"marks do not come along into another cluster", "schema/functions/engine/adopt_restore.sql",
		`update weir.pools p set mark = 0 where p.mark > 0;`, ``,
		engineTests, "TestAMarkOfAnotherClusterHidesNothing",
	},
	{
		"a pool is counted once older transactions have ended", "schema/functions/engine/_mark_pools.sql",
		`p.mark < s.xmin or`, `true or`,
		engineTests, "TestAPoolIsCountedOnceOldTransactionsHaveEnded",
	},
	{
		"one marks at a time", "schema/functions/engine/claim.sql",
		` and pg_try_advisory_xact_lock(86, 1) then`, ` then`,
		engineTests, "TestOneMarksAtATime",
	},
	{
		"a repair of floors waits for who raises them", "schema/functions/engine/repair_floors.sql",
		`perform pg_advisory_xact_lock(86, 1);`, ``,
		engineTests, "TestOneMarksAtATime",
	},
	{
		"a repair of pools waits for who opens them", "schema/functions/engine/repair_floors.sql",
		`perform pg_advisory_xact_lock(87, b) from generate_series(32, 63) b;`, ``,
		engineTests, "TestOneMarksAtATime",
	},
	{
		"what comes under a class is noted", "schema/migrations/0024_marks.sql",
		`for each row when (new.class < 0)
  execute`, `for each row when (false) execute`,
		engineTests, "TestWhatIsSaidIsSaidAgainAfterAMark",
	},
	{
		"what comes to a pool is noted", "schema/migrations/0024_marks.sql",
		`when (new.gate = 'pool' and new.pool is not null) execute`, `when (false) execute`,
		engineTests, "TestWhatIsSaidIsSaidAgainAfterAMark",
	},
	{
		"who finishes leaves the pool", "schema/functions/engine/finish_many.sql",
		`-count(*) from d where d.pool is not null`, `0 from d where d.pool is not null`,
		engineTests, "TestTheEndOfATaskDoesNotCountItsPool",
	},
	{
		"who is taken out leaves the pool", "schema/functions/engine/_remove_waiting.sql",
		`perform weir._left_pool(p.pool);`, ``,
		engineTests, "TestWhatIsSaidIsSaidAgainAfterAMark",
	},

	// Locks: what is read stays true until the commit, and transactions do not deadlock.
	{
		"who asks to stop sees who asked before", "schema/functions/engine/_ask_to_stop.sql",
		`order by x.task for update loop`, `order by x.task loop`,
		engineTests, "TestWhatIsReadIsLocked",
	},
	{
		"a lease that is just ending is not waited for", "schema/functions/engine/_ask_to_stop.sql",
		`for update skip locked`, `for update`,
		engineTests, "TestWhoTendsWaitsForNobody",
	},
	{
		"a node that claims is not dropped", "schema/functions/engine/drop_node.sql",
		`where x.name = drop_node.name for update;`, `where x.name = drop_node.name;`,
		engineTests, "TestWhatIsReadIsLocked",
	},
	{
		"a credential is locked before its node", "schema/functions/engine/drop_node.sql",
		`where c.node = drop_node.name for update;`, `where c.node = drop_node.name;`,
		engineTests, "TestLocksAreTakenInOrder",
	},
	{
		"a node registers as what it may be now", "schema/functions/engine/register_node.sql",
		` for share;`, `;`,
		engineTests, "TestWhatIsReadIsLocked",
	},
	{
		"a job that is being built is not put off", "schema/functions/engine/reschedule_job.sql",
		`where l.job = reschedule_job.job for update;`, `where l.job = reschedule_job.job;`,
		engineTests, "TestWhatIsReadIsLocked",
	},
	{
		"a schedule is changed as it was read", "schema/functions/engine/set_schedule.sql",
		`where s.name = set_schedule.name for update));`, `where s.name = set_schedule.name));`,
		engineTests, "TestWhatIsReadIsLocked",
	},
	{
		"a node is woken once", "schema/functions/engine/_note_wake.sql",
		`where n.name = _note_wake.name for no key update;`, `where n.name = _note_wake.name;`,
		engineTests, "TestWhatIsReadIsLocked",
	},
	{
		"who plans a task has its row", "schema/functions/engine/_lock_at_plan.sql",
		`where x.task = of_task for update;`, `where x.task = of_task;`,
		engineTests, "TestWhatIsReadIsLocked",
	},
	{
		"several jobs are counted in the order of their ids", "schema/functions/engine/_settle.sql",
		`perform from weir.job_live j where j.job = any (of) order by j.job for update;`, `null;`,
		engineTests, "TestLocksAreTakenInOrder",
	},
	{
		"dependents are locked before their edges", "schema/functions/engine/_settle.sql",
		`order by p.task for update;`, `order by p.task;`,
		engineTests, "TestLocksAreTakenInOrder",
	},
	{
		"what is due is not waited for", "schema/functions/engine/_open_due.sql",
		`order by p.run_at limit n
      for update skip locked`, `order by p.run_at limit n`,
		engineTests, "TestWhoTendsWaitsForNobody",
	},
	{
		"one that is due is not waited for", "schema/functions/engine/_open_due.sql",
		`p.run_at <= t
      for update skip locked`, `p.run_at <= t for update`,
		engineTests, "TestWhoTendsWaitsForNobody",
	},
	{
		"a chain waits for no job", "schema/functions/engine/_tend_chains.sql",
		`for update skip locked`, `for update`,
		engineTests, "TestWhoTendsWaitsForNobody",
	},
	{
		"a key that somebody has stays left", "schema/functions/engine/_tend_gates.sql",
		`pools := weir._lock_keys(pools, false, false, t);`, ``,
		engineTests, "TestWhoTendsWaitsForNobody",
	},
	{
		"a lane that somebody has stays left", "schema/functions/engine/_tend_gates.sql",
		`lanes := weir._lock_keys(lanes, true, false, t);`, ``,
		engineTests, "TestWhoTendsWaitsForNobody",
	},
	{
		"one tends at a time", "schema/functions/engine/tend.sql",
		`if not pg_try_advisory_xact_lock(86, 0) then`, `if false then`,
		engineTests, "TestWhoTendsWaitsForNobody",
	},
	{
		"a canceled job that somebody has is not waited for", "schema/functions/engine/tend.sql",
		`where j.job = of_job for update skip locked;`, `where j.job = of_job for update;`,
		engineTests, "TestWhoTendsWaitsForNobody",
	},
	{
		"the tally begins where it was made", "schema/migrations/0003_pages.sql",
		`values (pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1, 9223372036854775807)`, `values (0, 0)`,
		"./internal/engine", "TestTheTallyBeginsWhereItWasMade",
	},
	{
		"one takes the horizon", "schema/functions/engine/_take_horizon.sql",
		` or not pg_try_advisory_xact_lock(86, 1)`, ``,
		engineTests, "TestOneTakesTheHorizon",
	},
}
