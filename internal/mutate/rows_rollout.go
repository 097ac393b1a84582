package mutate

const rolloutTests = "./internal/rollout"

// rolloutRows are the guards of rollouts.
var rolloutRows = []Row{
	{
		"a brief is for the live lease", "schema/functions/rollout_brief.sql",
		` and l.token = rollout_brief.token`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"an end is for the live lease", "schema/functions/rollout_ended.sql",
		` and l.token = rollout_ended.token`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"a phase is for the live lease", "schema/functions/rollout_phase.sql",
		` and l.token = rollout_phase.token`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"a quiet word is for the live lease", "schema/functions/rollout_says.sql",
		` and l.token = rollout_says.token;`, `;`,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"clicks on a rollout come one by one", "schema/functions/_rollout.sql",
		`perform pg_advisory_xact_lock(90, hashtext(_rollout.id::text));`, ``,
		rolloutTests, "TestClicksAtOnce",
	},
	{
		"commands on a database come one by one", "schema/functions/_rollout_database_lock.sql",
		`select pg_advisory_xact_lock(93, hashtext(name))`, `select null::void`,
		rolloutTests, "TestPutsOfTwoEngines",
	},
	{
		"a plan that is being made keeps its databases", "schema/functions/rollout_create.sql",
		`order by d.name for key share);`, `order by d.name);`,
		rolloutTests, "TestCreateWhileADatabaseIsDropped",
	},
	{
		"a database that is being dropped is locked", "schema/functions/rollout_drop_database.sql",
		`where d.name = rollout_drop_database.name for update;`, `where d.name = rollout_drop_database.name;`,
		rolloutTests, "TestCreateWhileADatabaseIsDropped",
	},
	{
		"a database in use stays", "schema/functions/rollout_drop_database.sql",
		`if live.n > 0 then`, `if false then`,
		rolloutTests, "TestDatabases",
	},
	{
		"an old look at a database does not count", "schema/functions/rollout_checked.sql",
		`if was.changed_at <> rollout_checked.seen then`, `if false then`,
		rolloutTests, "TestStaleLook",
	},
	{
		"another database is not taken for the known one", "schema/functions/rollout_checked.sql",
		`if wrong is null and was.identity <> rollout_checked.identity and not rollout_checked.accept then`, `if false then`,
		rolloutTests, "TestAnotherDatabase",
	},
	{
		"an approval is for the plan that was seen", "schema/functions/rollout_approve.sql",
		`if rollout_approve.hash <> r.hash then`, `if false then`,
		rolloutTests, "TestEveryCommandInEveryState",
	},
	{
		"a stage needs its approvals", "schema/functions/rollout_promote.sql",
		`if approved < s.approvals then`, `if false then`,
		rolloutTests, "TestEveryCommandInEveryState",
	},
	{
		"a run needs the frozen plan", "schema/functions/rollout_brief.sql",
		`when r.hash <> weir._rollout_hash(r.plan) then`, `when false then`,
		rolloutTests, "TestReleasedByHand",
	},
	{
		"a run needs a stage that began", "schema/functions/rollout_brief.sql",
		`when s.begun_at is null then`, `when false then`,
		rolloutTests, "TestReleasedByHand",
	},
	{
		"the engine's commands leave rollouts alone", "schema/functions/_free.sql",
		`if found and owner.kind is distinct from`, `if false and owner.kind is distinct from`,
		rolloutTests, "TestCommandsOfTheEngineAreRefused",
	},
}
