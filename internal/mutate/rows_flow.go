package mutate

const (
	flowTests = "./internal/workflow"
	hookTests = "./internal/httpapi"
)

// flowRows are the guards of workflows and schedules.
var flowRows = []Row{
	{
		"a delivery is signed", "internal/workflow/webhook.go",
		`return hmac.Equal(h.Sum(nil), given)`, `return given != nil`, hookTests, "TestAnUnsignedDeliveryIsRefused",
	},
	{
		"an old delivery is refused", "internal/workflow/webhook.go",
		`.Abs() > signedFor`, `.Abs() > 1000*signedFor`, hookTests, "TestAnUnsignedDeliveryIsRefused",
	},
	{
		"a secret before ends", "internal/workflow/store.go",
		`case when g.before_until > clock_timestamp() then g.secret_before end], null)`, `g.secret_before], null)`, hookTests, "TestASecretIsRotatedWithAnOverlap",
	},
	{
		"a delivery that came before starts nothing", "schema/functions/flow/workflow_deliver.sql",
		`
  where f.state in ('ignored', 'failed');`, `
  where true;`, hookTests, "TestASignedDeliveryStartsOneRun",
	},
	{
		"wrong signatures have to wait", "internal/httpapi/webhook.go",
		`late != nil {`, `false {`, hookTests, "TestAnUnsignedDeliveryIsRefused",
	},
	{
		"a secret is given to one rotation at a time", "schema/functions/flow/workflow_hook_secret.sql",
		`where g.name = workflow_hook_secret.trigger for update;`, `where g.name = workflow_hook_secret.trigger;`, flowTests, "TestRotationsComeOneByOne",
	},
	{
		"a firing that was decided is left alone", "schema/functions/flow/workflow_fire.sql",
		`perform from weir.firings f where f.trigger = x.trigger and f.key = x.key and f.state = 'pending' for update;`,
		`perform from weir.firings f where f.trigger = x.trigger and f.key = x.key;`, flowTests, "TestAFiringStartsOneRun",
	},
	{
		"a firing has a key for its run", "schema/functions/flow/workflow_fire.sql",
		`idempotency_key => format('trigger:%s:%s', x.trigger, x.key), `, ``, flowTests, "TestAFiringStartsOneRun",
	},
	{
		"a run fires a trigger once", "schema/functions/flow/_run_ended.sql",
		`
    where f.state in ('ignored', 'failed')
`, `
`, flowTests, "TestARetriedRunFiresOnce",
	},
	{
		"a step that is a workflow fires nothing", "schema/functions/flow/_run_ended.sql",
		` or exists (select from weir.jobs j where j.id = old.job and j.parent is not null)`, ``, flowTests, "TestAStepThatIsAWorkflowFiresNothing",
	},
	{
		"a ring of triggers is refused", "schema/functions/flow/set_trigger.sql",
		`if ring is not null then`, `if false then`, flowTests, "TestARingOfTriggersIsRefused",
	},
	{
		"two callers close no ring", "schema/functions/flow/set_trigger.sql",
		`  lock table weir.triggers in share row exclusive mode;
`, ``, flowTests, "TestTwoCallersCloseNoRing",
	},
	{
		"a chain of runs is bounded", "internal/workflow/firing.go",
		`by.Chain > chainMost {`, `by.Chain > 1000*chainMost {`, flowTests, "TestAChainOfRunsIsBounded",
	},
	{
		"the list of firings is bounded", "schema/functions/flow/_fired.sql",
		`offset most - 1 limit 1`, `offset 100 * most limit 1`, flowTests, "TestFiringsAreBounded",
	},
	{
		"a workflow that a trigger names stays", "schema/functions/flow/drop_workflow.sql",
		`where last and drop_workflow.name in (g.workflow, g.after);`, `where false;`, flowTests, "TestATriggerIsChecked",
	},
	{
		"a progress bar keeps its last state", "internal/agent/output.go",
		`last >= 0 || s.back {`, `last < -1 {`, agentTests, "TestCarriageReturnsKeepTheLastState",
	},
	{
		"a chunk of a log is compressed", "internal/blob/joblog/pack.go",
		`len(packed) < len(lines) {`, `len(packed) < 0 {`, "./internal/blob/joblog", "TestChunksAreCompressed",
	},
	{
		"a chunk of an earlier release is read", "internal/blob/joblog/pack.go",
		`!bytes.Equal(head, magic) {`, `len(head) == 0 {`, "./internal/blob/joblog", "TestChunksAreCompressed",
	},
	{
		"the id that a client gave stands for one job", "schema/functions/engine/open_job.sql",
		`    if was <> new_id then
      return was;
    end if;
  end if;
  -- The transaction`, `  end if;
  -- The transaction`,
		engineTests, "TestAnIDOfAClientIsOneJob",
	},
	{
		"an id that a client gave goes with its job", "schema/functions/engine/drop_partitions.sql",
		`      delete from weir.given_ids g where g.job < weir._id_at(p.hi) and g.job >= weir._id_at(p.lo);
`, `      null;
`, engineTests, "TestIDsOfClientsGoWithTheirJobs",
	},
	{
		"a client writes no state into the timeline", "schema/functions/engine/log_event.sql",
		`    or exists (select from weir.transition x where x.event = log_event.type)
`, ``, engineTests, "TestEventsWithoutALease",
	},
	{
		"an event of a client is about a task of its job", "schema/functions/engine/log_event.sql",
		`of_job <> owner or of_job is not null and owner is null`, `of_job is null and owner is not null and log_event.task is null`,
		engineTests, "TestEventsWithoutALease",
	},
	{
		"the data of a client's event is bounded", "schema/functions/engine/log_event.sql",
		`pg_column_size(log_event.data) > 65536`, `pg_column_size(log_event.data) > 655360000`,
		engineTests, "TestEventsWithoutALease",
	},
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
	{
		"a step whose definition changed is not reused", "internal/workflow/reuse.go",
		`case !r.same && !sameStep(before, r.now.parsed.Step(key)):`, `case false:`,
		flowTests, "TestRerunOfAMendedWorkflow",
	},
	{
		"a step that gets other values is not reused", "internal/workflow/reuse.go",
		`if v.Reused && !r.same && !r.valuesSame(key) {`, `if false {`,
		flowTests, "TestRerunOfAMendedWorkflow",
	},
	{
		"the items of a map that changed are not reused", "internal/workflow/reuse.go",
		`if before == nil || !sameStep(before, s.parsed.Step(s.key)) {`, `if before == nil {`,
		flowTests, "TestItemsOfAMendedMap",
	},
	{
		"an approval is for its people", "schema/functions/engine/_may_decide.sql",
		`if names is not null and not a.deciders && names then`, `if false then`,
		flowTests, "TestAnApprovalIsForItsPeople",
	},
	{
		"what was refused is held again by a retry", "schema/functions/engine/_fail_held.sql",
		`(was.p).attempt, 'failed'`, `(was.p).attempt + 1, 'failed'`,
		flowTests, "TestAnApprovalIsForItsPeople",
	},
	{
		"a retry asks the same people", "schema/functions/engine/_revive.sql",
		`update weir.asks a set open = true from unnest(ended) e where a.task = e.task and e.attempt = 0;`, ``,
		flowTests, "TestAnApprovalIsForItsPeople",
	},
	{
		"a decision locks the job first", "schema/functions/engine/_may_decide.sql",
		`perform from weir.job_live j where j.job = a.job for update;`, ``,
		flowTests, "TestAskedOneByOne",
	},
	{
		"events of one job come one by one", "schema/functions/engine/signal.sql",
		`perform from weir.job_live j where j.job = signal.job for update;`, `perform from weir.job_live j where j.job = signal.job;`,
		flowTests, "TestAskedOneByOne",
	},
	{
		"the expiry waits for no job", "schema/functions/engine/settle_asks.sql",
		` for update skip locked;`, ` for update;`,
		flowTests, "TestAskedOneByOne",
	},
	{
		"a job keeps a bounded number of events", "schema/functions/engine/signal.sql",
		`>= most then`, `< 0 then`,
		flowTests, "TestSignalsAreBounded",
	},
	{
		"a link needs its signature", "internal/work/link.go",
		`|| !v.Signed(linkPurpose, data[:len(task)], data[len(task):]) {`, `{`,
		"./internal/remote", "TestEventsOverHTTP",
	},
	{
		"a link ends with its wait", "schema/functions/engine/signal_task.sql",
		`if a.open or exists`, `if a.task is not null or exists`,
		"./internal/remote", "TestALinkEndsWithItsWait",
	},
}
