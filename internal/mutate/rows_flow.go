package mutate

const flowTests = "./internal/workflow"

// flowRows are the guards of workflows and schedules.
var flowRows = []Row{
	{
		"a job is built once", "schema/functions/workflow_build.sql",
		`order by l.job for update);`, `order by l.job);`,
		flowTests, "TestTwoLeadersAtOnceAreHarmless",
	},
	{
		"a version is never changed", "schema/migrations/0005_workflows.sql",
		`  unique (name, version)
`,
		`  check (true)
`,
		flowTests, "TestAVersionIsNeverChanged",
	},
	{
		"a run of a schedule fires once", "schema/functions/_fire.sql",
		` order by x.name for update;`, ` order by x.name;`,
		"./internal/engine", "TestAScheduleThatMovedOnDoesNotFire",
	},
	{
		"a leader of an old term builds nothing", "internal/coordinator/term.go",
		"both.Queue(`select weir.fenced($1, $2)`, Lock, t.epoch)", "both.Queue(`select $1::text, $2::bigint`, Lock, t.epoch)",
		flowTests, "TestALeaderOfAnOldTermBuildsNothing",
	},
}
