package mutate

const flowTests = "./internal/workflow"

// flowRows are the guards of workflows and schedules.
var flowRows = []Row{
	{
		"a job is built once", "schema/functions/flow/workflow_build.sql",
		`order by l.job for update);`, `order by l.job);`,
		flowTests, "TestAJobIsBuiltOnce",
	},
	{
		"a version is never changed", "schema/migrations/0005_workflows.sql",
		`  unique (name, version)
`,
		`  check (true)
`,
		flowTests, "TestAVersionIsThereOnce",
	},
	{
		"a schedule that moved on does not fire", "schema/functions/engine/_fire.sql",
		` and x.next_at = r.was`, ``,
		"./internal/engine", "TestAScheduleThatMovedOnDoesNotFire",
	},
	{
		"schedules are locked in the order of their names", "schema/functions/engine/_fire.sql",
		` order by x.name
  for update;`, ` order by x.name;`,
		engineTests, "TestLocksAreTakenInOrder",
	},
	{
		"a leader of an old term builds nothing", "internal/coordinator/term.go",
		"all.Queue(`select weir.fenced($1, $2)`, t.config.lock(), t.epoch)", "all.Queue(`select $1::text, $2::bigint`, t.config.lock(), t.epoch)",
		flowTests, "TestALeaderOfAnOldTermBuildsNothing",
	},
	{
		"the same job is inserted once", "schema/functions/flow/_flow_job.sql",
		`perform pg_advisory_xact_lock(90, hashtext(new.id::text));`, ``,
		flowTests, "TestWorkflowsAreStoredOneByOne",
	},
	{
		"a place in the order is taken once", "schema/functions/flow/_flow_job.sql",
		`perform pg_advisory_xact_lock(91, (new.order_seq % 2147483647)::int);`, ``,
		flowTests, "TestWorkflowsAreStoredOneByOne",
	},
	{
		"versions are put one by one", "schema/functions/flow/put_workflow.sql",
		`perform pg_advisory_xact_lock(96, hashtext(put_workflow.name));`, ``,
		flowTests, "TestWorkflowsAreStoredOneByOne",
	},
	{
		"who deletes a workflow sees its newest version", "schema/functions/flow/drop_workflow.sql",
		`perform pg_advisory_xact_lock(96, hashtext(drop_workflow.name));`, ``,
		flowTests, "TestWorkflowsAreStoredOneByOne",
	},
	{
		"patience locks all jobs first", "schema/functions/flow/workflow_patience.sql",
		`order by l.job for update;`, `order by l.job;`,
		flowTests, "TestJobsAreLockedBeforeTheyArePlanned",
	},
	{
		"a plan locks all jobs first", "schema/functions/flow/workflow_plan.sql",
		`order by l.job
  for update;`, `order by l.job;`,
		flowTests, "TestJobsAreLockedBeforeTheyArePlanned",
	},
}
