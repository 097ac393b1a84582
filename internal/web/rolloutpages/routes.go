package rolloutpages

import (
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/web/site"
)

// pages are those of the domain, with the stores they ask.
type pages struct {
	*site.Config
	// ended remembers the counts of rollouts that have ended.
	ended endedShelf
}

// Routes are the pages of the domain, and what people can do there.
func Routes(c *site.Config) site.Routes {
	w := &pages{Config: c}
	return site.Routes{Pages: w.pages(), Actions: w.actions(), Files: w.files()}
}

// pages are all pages. A right stands on the line of what it opens.
func (w *pages) pages() []site.Page {
	return []site.Page{
		{Path: "/rollouts", Verb: auth.Read, Kind: "rollout", Load: w.rollouts},
		{Path: "/rollouts/{rollout}", Nav: "/rollouts", Verb: auth.Read, Kind: "rollout", Load: w.aRollout("", w.rolloutBoard)},
		{Path: "/rollouts/{rollout}/tasks", Nav: "/rollouts", Verb: auth.Read, Kind: "rollout", Load: w.aRollout("/tasks", w.rolloutTasks)},
		{Path: "/rollouts/{rollout}/plan", Nav: "/rollouts", Verb: auth.Read, Kind: "rollout", Load: w.aRollout("/plan", w.rolloutPlan)},
		{Path: "/rollouts/{rollout}/tasks/{task}", Nav: "/rollouts", Verb: auth.Read, Kind: "rollout", Load: w.rolloutRun},
		{Path: "/databases", Verb: auth.Read, Kind: "database", Load: w.databases},
		{Path: "/databases/{database}", Nav: "/databases", Verb: auth.Read, Kind: "database", Load: w.aDatabase("", w.databaseOverview)},
		{Path: "/databases/{database}/history", Nav: "/databases", Verb: auth.Read, Kind: "database", Load: w.aDatabase("/history", w.databaseHistory)},
		{Path: "/databases/{database}/drift", Nav: "/databases", Verb: auth.Read, Kind: "database", Load: w.aDatabase("/drift", w.databaseDrift)},
	}
}

// actions are all that people can do.
func (w *pages) actions() []site.Action {
	return []site.Action{
		{Path: "/new-rollout", Nav: "/rollouts", Verb: auth.Submit, Kind: "rollout", Form: w.planForm(false), Do: w.doPlan(false)},
		{Path: "/rollouts/{rollout}/edit", Nav: "/rollouts", Verb: auth.Submit, Kind: "rollout", Form: w.planForm(true), Do: w.doPlan(true)},
		site.Operated(w.Operations, rollout.Start, "/rollouts", w.askRollout(askStartRollout), toRollout),
		site.Operated(w.Operations, rollout.Pause, "/rollouts", w.askRollout(askPauseRollout), toRollout),
		site.Operated(w.Operations, rollout.Resume, "/rollouts", nil, toRollout),
		site.Operated(w.Operations, rollout.Abort, "/rollouts", w.askRollout(askAbortRollout), toRollout),
		site.Operated(w.Operations, rollout.Approve, "/rollouts", w.askStage(askApprove), toRollout),
		site.Operated(w.Operations, rollout.Revoke, "/rollouts", w.askStage(askRevoke), toRollout),
		site.Operated(w.Operations, rollout.Promote, "/rollouts", w.askStage(askPromote), toRollout),
		site.Operated(w.Operations, rollout.Retry, "/rollouts", nil, toRun),
		site.Operated(w.Operations, rollout.Skip, "/rollouts", w.askTaskRun(askSkipRun), toRun),
		site.Operated(w.Operations, rollout.Cancel, "/rollouts", w.askTaskRun(askCancelRun), toRun),
		site.Operated(w.Operations, rollout.Resolve, "/rollouts", w.askTaskRun(askResolveRun), toRun),
		{Path: "/new-database", Nav: "/databases", Verb: auth.Manage, Kind: "database", Ask: w.askNewDatabase, Do: w.createDatabase},
		{Path: "/databases/{database}/change", Nav: "/databases", Verb: auth.Manage, Kind: "database", Ask: w.askChangeDatabase, Do: w.changeDatabase},
		site.Addressed("/databases/{database}/delete", site.Operated(w.Operations, rollout.DropDatabase, "/databases", w.askDropDatabase, removed)),
		site.Operated(w.Operations, rollout.CheckDatabase, "/databases", nil, checked),
		site.Addressed("/databases/{database}/adopt", site.Operated(w.Operations, rollout.CheckDatabase, "/databases", w.askAdopt, checked)),
		site.Operated(w.Operations, rollout.ImportHistory, "/databases", w.askImportHistory, imported),
		site.Addressed("/databases/{database}/accept", site.Operated(w.Operations, rollout.AcceptDrift, "/databases", w.askAcceptDrift, accepted)),
	}
}

// files are what is served whole and not as a page.
func (w *pages) files() []site.File {
	return []site.File{
		{Path: "/rollouts/{rollout}/changes/{change}/sql", Verb: auth.Read, Kind: "rollout", Load: w.changeFile},
	}
}
