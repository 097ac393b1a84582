package mutate

const rolloutTests = "./internal/rollout"

// rolloutRows are the guards of rollouts.
var rolloutRows = []Row{
	{
		"a brief is for the live lease", "schema/functions/rollout/rollout_brief.sql",
		` and l.token = rollout_brief.token`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"an end is for the live lease", "schema/functions/rollout/rollout_ended.sql",
		` and l.token = rollout_ended.token`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"a phase is for the live lease", "schema/functions/rollout/rollout_phase.sql",
		` and l.token = rollout_phase.token`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"a quiet word is for the live lease", "schema/functions/rollout/rollout_says.sql",
		` and l.token = rollout_says.token;`, `;`,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"clicks on a rollout come one by one", "schema/functions/rollout/_rollout.sql",
		`perform pg_advisory_xact_lock(98, hashtext(_rollout.id::text));`, ``,
		rolloutTests, "TestClicksAtOnce",
	},
	{
		"commands on a database come one by one", "schema/functions/rollout/_rollout_database_lock.sql",
		`select pg_advisory_xact_lock(93, hashtext(name))`, `select null::void`,
		rolloutTests, "TestPutsOfTwoEngines",
	},
	{
		"a plan that is being made keeps its databases", "schema/functions/rollout/rollout_create.sql",
		`order by d.name for key share);`, `order by d.name);`,
		rolloutTests, "TestCreateWhileADatabaseIsDropped",
	},
	{
		"a database that is being dropped is locked", "schema/functions/rollout/rollout_drop_database.sql",
		`where d.name = rollout_drop_database.name for update;`, `where d.name = rollout_drop_database.name;`,
		rolloutTests, "TestCreateWhileADatabaseIsDropped",
	},
	{
		"a database in use stays", "schema/functions/rollout/rollout_drop_database.sql",
		`if live.n > 0 then`, `if false then`,
		rolloutTests, "TestDatabases",
	},
	{
		"an old look at a database does not count", "schema/functions/rollout/rollout_checked.sql",
		`if was.changed_at <> rollout_checked.seen then`, `if false then`,
		rolloutTests, "TestStaleLook",
	},
	{
		"another database is not taken for the known one", "schema/functions/rollout/rollout_checked.sql",
		`if wrong is null and was.identity <> rollout_checked.identity and not rollout_checked.accept then`, `if false then`,
		rolloutTests, "TestAnotherDatabase",
	},
	{
		"an approval is for the plan that was seen", "schema/functions/rollout/rollout_approve.sql",
		`if rollout_approve.hash <> r.hash then`, `if false then`,
		rolloutTests, "TestAStageNeedsItsApprovals",
	},
	{
		"a stage needs its approvals", "schema/functions/rollout/rollout_promote.sql",
		`if approved < s.approvals then`, `if false then`,
		rolloutTests, "TestAStageNeedsItsApprovals",
	},
	{
		"a run needs the frozen plan", "schema/functions/rollout/rollout_brief.sql",
		`when r.hash <> weir._rollout_hash(r.plan) then`, `when false then`,
		rolloutTests, "TestARunLooksAgain",
	},
	{
		"a run needs the environment of the plan", "schema/functions/rollout/rollout_brief.sql",
		`when d.environment <> frozen ->> 'environment' then`, `when false then`,
		rolloutTests, "TestARunLooksAgain",
	},
	{
		"a run needs the text of its checksum", "schema/functions/rollout/rollout_brief.sql",
		`when sql is null
      or change ->> 'checksum' <> encode(sha256(convert_to(replace(sql, E'\r\n', E'\n'), 'UTF8')), 'hex') then`, `when false then`,
		rolloutTests, "TestARunLooksAgain",
	},
	{
		"a run needs its approvals", "schema/functions/rollout/rollout_brief.sql",
		`when approved < s.approvals then`, `when false then`,
		rolloutTests, "TestARunLooksAgain",
	},
	{
		"a run needs a rollout that goes on", "schema/functions/rollout/rollout_brief.sql",
		`when r.aborted_at is not null then`, `when false then`,
		rolloutTests, "TestARunLooksAgain",
	},
	{
		"a run needs a stage that began", "schema/functions/rollout/rollout_brief.sql",
		`when s.begun_at is null then`, `when false then`,
		rolloutTests, "TestReleasedByHand",
	},
	{
		"the engine's commands leave rollouts alone", "schema/functions/engine/_refuse_owned.sql",
		`if found and owner.kind is distinct from`, `if false and owner.kind is distinct from`,
		rolloutTests, "TestCommandsOfTheEngineAreRefused",
	},

	// Locks: what is read stays true until the commit, and transactions do not deadlock.
	{
		"a start takes the job first", "schema/functions/rollout/rollout_start.sql",
		`where l.job = r.job for update;`, `where l.job = r.job;`,
		rolloutTests, "TestTheJobIsLockedBeforeItsRollout",
	},
	{
		"an approval takes the job first", "schema/functions/rollout/rollout_approve.sql",
		`where l.job = r.job for update;`, `where l.job = r.job;`,
		rolloutTests, "TestTheJobIsLockedBeforeItsRollout",
	},
	{
		"a revocation takes the job first", "schema/functions/rollout/rollout_revoke.sql",
		`where l.job = r.job for update;`, `where l.job = r.job;`,
		rolloutTests, "TestTheJobIsLockedBeforeItsRollout",
	},
	{
		"a promotion takes the job first", "schema/functions/rollout/rollout_promote.sql",
		`where l.job = r.job for update;`, `where l.job = r.job;`,
		rolloutTests, "TestTheJobIsLockedBeforeItsRollout",
	},
	{
		"a pause takes the job first", "schema/functions/rollout/rollout_pause.sql",
		`where l.job = r.job for update;`, `where l.job = r.job;`,
		rolloutTests, "TestTheJobIsLockedBeforeItsRollout",
	},
	{
		"a resumption takes the job first", "schema/functions/rollout/rollout_resume.sql",
		`where l.job = r.job for update;`, `where l.job = r.job;`,
		rolloutTests, "TestTheJobIsLockedBeforeItsRollout",
	},
	{
		"a resolution takes the job first", "schema/functions/rollout/_rollout_resolved.sql",
		`where l.job = r.job for update;`, `where l.job = r.job;`,
		rolloutTests, "TestTheJobIsLockedBeforeItsRollout",
	},
	{
		"a start waits for who opens its lanes", "schema/functions/rollout/rollout_start.sql",
		`perform weir._hold_keys(array(`, `perform (array(`,
		rolloutTests, "TestAStartWaitsForWhoOpensItsLanes",
	},
	{
		"the sweep waits for no job", "schema/functions/rollout/rollout_sweep.sql",
		`for update skip locked;`, `for update;`,
		rolloutTests, "TestTheSweepWaitsForNobody",
	},
	{
		"a look is judged by the address as it is", "schema/functions/rollout/rollout_checked.sql",
		`where d.name = rollout_checked.name for update;`, `where d.name = rollout_checked.name;`,
		rolloutTests, "TestDatabasesAreJudgedUnderTheirLock",
	},
	{
		"a secret that another database takes stays", "schema/functions/rollout/rollout_drop_database.sql",
		`where s.name = was.secret for update;`, `where s.name = was.secret;`,
		rolloutTests, "TestDatabasesAreJudgedUnderTheirLock",
	},
	{
		"a database holds its secret", "schema/functions/rollout/rollout_put_database.sql",
		` for key share;`, `;`,
		rolloutTests, "TestDatabasesAreJudgedUnderTheirLock",
	},
	{
		"a lease lasts until its phase is written", "schema/functions/rollout/rollout_phase.sql",
		` for key share;`, `;`,
		rolloutTests, "TestALeaseLastsUntilItsRunIsWritten",
	},
	{
		"a lease lasts until its end is written", "schema/functions/rollout/rollout_ended.sql",
		` for key share;`, `;`,
		rolloutTests, "TestALeaseLastsUntilItsRunIsWritten",
	},
}
