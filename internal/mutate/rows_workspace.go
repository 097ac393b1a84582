package mutate

const workspaceTests = "./internal/workspace"

// workspaceRows are the guards of workspaces.
var workspaceRows = []Row{
	{
		"an archive counts for its operation", "schema/functions/workspace/workspace_archived.sql",
		`w.op_id is distinct from workspace_archived.op_id
    or `, ``,
		workspaceTests, "TestAnArchiveCountsForItsOperation",
	},
	{
		"a start in between voids an archive", "schema/functions/workspace/workspace_archived.sql",
		` or w.mounted <> workspace_archived.mounted`, ``,
		workspaceTests, "TestAnArchiveCountsForItsMount",
	},
	{
		"one operation at a time", "schema/functions/workspace/workspace_begin.sql",
		` and w.operation = 'NONE' and w.generation = wanted`, ` and w.generation = wanted`,
		workspaceTests, "TestNothingElseBeginsMeanwhile",
	},
	{
		"an operation begins for what is wanted now", "schema/functions/workspace/workspace_begin.sql",
		` and w.generation = wanted`, ``,
		workspaceTests, "TestWhoIsLateChangesNothing",
	},
	{
		"an end is for its operation", "schema/functions/workspace/workspace_end.sql",
		` and x.op_id is not distinct from workspace_end.op_id`, ``,
		workspaceTests, "TestWhoIsLateChangesNothing",
	},
	{
		"progress is for its operation", "schema/functions/workspace/workspace_progress.sql",
		` and w.op_id = workspace_progress.op_id`, ``,
		workspaceTests, "TestProgress",
	},
	{
		"nothing else is wanted meanwhile", "schema/functions/workspace/workspace_want.sql",
		`if w.operation <> 'NONE' then`, `if false then`,
		workspaceTests, "TestNothingElseBeginsMeanwhile",
	},
	{
		"starts are counted one by one", "schema/functions/workspace/_workspace_room.sql",
		`update weir.workspace_policy x set starts = x.starts + 1 returning * into p;`, `select * into p from weir.workspace_policy;`,
		workspaceTests, "TestTwoHundredStartsAtOnce",
	},
	{
		"a person has a limit of workspaces", "schema/functions/workspace/_workspace_room.sql",
		`if mine < p.per_user and every < p.in_all then`, `if every < p.in_all then`,
		workspaceTests, "TestWhoIsRefusedLearnsWhatRuns",
	},
	{
		"a server has a limit of workspaces", "schema/functions/workspace/_workspace_room.sql",
		`if mine < p.per_user and every < p.in_all then`, `if mine < p.per_user then`,
		workspaceTests, "TestWhoIsRefusedLearnsWhatRuns",
	},
	{
		"names of workspaces are unique", "schema/migrations/0014_workspaces.sql",
		`create unique index workspaces_name`, `create index workspaces_name`,
		workspaceTests, "TestCreateOnceAndRefuse",
	},
	{
		"a code is used once", "schema/functions/workspace/workspace_code_use.sql",
		`delete from weir.workspace_codes x where x.hash = workspace_code_use.code returning * into c;`,
		`select * into c from weir.workspace_codes x where x.hash = workspace_code_use.code;`,
		"./internal/proxy", "TestCode",
	},
	{
		"a code is for its host", "schema/functions/workspace/workspace_code_use.sql",
		` or c.host <> workspace_code_use.host`, ``,
		"./internal/proxy", "TestCode",
	},
	{"a code expires", "schema/functions/workspace/workspace_code_use.sql", ` or c.expires_at <= t`, ``, "./internal/proxy", "TestCode"},
	{
		"a visit ends with its session", "schema/functions/workspace/workspace_visit.sql",
		`coalesce(s.expires_at, 'infinity') > t and `, ``,
		"./internal/proxy", "TestVisitEnds",
	},
	{
		"use never goes back", "schema/functions/workspace/workspace_touch.sql",
		`w.last_access_at < u.at and `, ``,
		workspaceTests, "TestUseNeverGoesBack",
	},
	{
		"who is busy is capped", "schema/functions/workspace/workspace_busy.sql",
		`least(t + lasts, greatest(w.last_access_at + p.busy_most, t))`, `t + lasts`,
		workspaceTests, "TestBusyIsCapped",
	},

	// Locks: what is read stays true until the commit.
	{
		"an archive is judged by the workspace as it is", "schema/functions/workspace/workspace_archived.sql",
		`where x.id = workspace_archived.workspace for no key update;`, `where x.id = workspace_archived.workspace;`,
		workspaceTests, "TestWorkspacesAreJudgedUnderTheirLock",
	},
	{
		"one that is being deleted is not busy", "schema/functions/workspace/workspace_busy.sql",
		` for no key update;`, `;`,
		workspaceTests, "TestWorkspacesAreJudgedUnderTheirLock",
	},
	{
		"a patch keeps what another one changes", "schema/functions/workspace/workspace_patch.sql",
		` for no key update;`, `;`,
		workspaceTests, "TestWorkspacesAreJudgedUnderTheirLock",
	},
	{
		"an error is recovered from once", "schema/functions/workspace/workspace_recover.sql",
		` for no key update;`, `;`,
		workspaceTests, "TestWorkspacesAreJudgedUnderTheirLock",
	},
	{
		"what is wanted is judged by what is under way", "schema/functions/workspace/workspace_want.sql",
		` for no key update;`, `;`,
		workspaceTests, "TestWorkspacesAreJudgedUnderTheirLock",
	},
	{
		"an old look takes nothing back", "schema/functions/workspace/workspace_see.sql",
		` for no key update of w`, ``,
		workspaceTests, "TestWorkspacesAreJudgedUnderTheirLock",
	},
	{
		"a new leader goes on with what is still under way", "schema/functions/workspace/workspace_resume.sql",
		` for no key update)`, `)`,
		workspaceTests, "TestWorkspacesAreJudgedUnderTheirLock",
	},
	{
		"time runs again for what is still under way", "schema/functions/workspace/workspace_unknown.sql",
		` for no key update`, ``,
		workspaceTests, "TestWorkspacesAreJudgedUnderTheirLock",
	},
	{
		"the clock waits for nobody", "schema/functions/workspace/workspace_expire.sql",
		` for no key update skip locked`, ` for no key update`,
		workspaceTests, "TestWorkspacesAreJudgedUnderTheirLock",
	},
	{
		"the policy of workspaces is changed as it is", "schema/functions/workspace/set_workspace_policy.sql",
		`from weir.workspace_policy for update;`, `from weir.workspace_policy;`,
		workspaceTests, "TestWorkspacesAreJudgedUnderTheirLock",
	},
	{
		"who sweeps codes waits for nobody", "schema/functions/workspace/workspace_code_make.sql",
		`from weir.workspace_codes x where x.expires_at < t limit 100 for update skip locked`, `from weir.workspace_codes x where x.expires_at < t limit 100 for update`,
		workspaceTests, "TestNobodyWaitsForWhoSweeps",
	},
	{
		"who sweeps visits waits for nobody", "schema/functions/workspace/workspace_code_make.sql",
		`from weir.workspace_visits x where x.expires_at < t limit 100 for update skip locked`, `from weir.workspace_visits x where x.expires_at < t limit 100 for update`,
		workspaceTests, "TestNobodyWaitsForWhoSweeps",
	},
	{
		"an operation ends once", "schema/functions/workspace/workspace_end.sql",
		` for no key update;`, `;`,
		workspaceTests, "TestWorkspacesAreJudgedUnderTheirLock",
	},
	{
		"use that is told late takes nothing back", "schema/functions/workspace/workspace_touch.sql",
		` for no key update of w`, ``,
		workspaceTests, "TestWorkspacesAreJudgedUnderTheirLock",
	},
}
