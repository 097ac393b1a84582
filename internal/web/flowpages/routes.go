package flowpages

import (
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
)

// pages are those of the domain, with the stores they ask.
type pages struct {
	*site.Config
}

// Routes are the pages of the domain, and what people can do there.
func Routes(c *site.Config) site.Routes {
	w := &pages{Config: c}
	return site.Routes{Pages: w.pages(), Actions: w.actions(), Files: w.files()}
}

// pages are all pages. A right stands on the line of what it opens.
func (w *pages) pages() []site.Page {
	return []site.Page{
		{Path: "/workflows", Verb: auth.Read, Kind: "workflow", Load: w.workflows},
		{Path: "/workflows/{name}", Nav: "/workflows", Verb: auth.Read, Kind: "workflow", Load: w.aWorkflow("", w.workflowSteps)},
		{Path: "/workflows/{name}/jobs", Nav: "/workflows", Verb: auth.Read, Kind: "workflow", Load: w.aWorkflow("/jobs", w.workflowJobs)},
		{Path: "/workflows/{name}/versions", Nav: "/workflows", Verb: auth.Read, Kind: "workflow", Load: w.aWorkflow("/versions", w.workflowVersions)},
		{Path: "/workflows/{name}/source", Nav: "/workflows", Verb: auth.Read, Kind: "workflow", Load: w.aWorkflow("/source", w.workflowSource)},
		{Path: "/schedules", Verb: auth.Read, Kind: "schedule", Load: w.schedules},
		{Path: "/schedules/{schedule}", Nav: "/schedules", Verb: auth.Read, Kind: "schedule", Load: w.schedule},
		{Path: "/triggers", Verb: auth.Read, Kind: "trigger", Load: w.triggers},
		{Path: "/triggers/{trigger}", Nav: "/triggers", Verb: auth.Read, Kind: "trigger", Load: w.trigger},
	}
}

// actions are all that people can do.
func (w *pages) actions() []site.Action {
	return []site.Action{
		{Path: "/new-workflow", Nav: "/workflows", Verb: auth.Manage, Kind: "workflow", Ask: w.askNewWorkflow, Do: w.putWorkflow},
		{Path: "/workflows/{name}/run", Nav: "/workflows", Verb: auth.Submit, Kind: "workflow", Ask: w.askRun, Do: w.runWorkflow},
		{Path: "/workflows/{name}/activate", Nav: "/workflows", Verb: auth.Manage, Kind: "workflow", Do: w.activateWorkflow},
		{Path: "/workflows/{name}/deactivate", Nav: "/workflows", Verb: auth.Manage, Kind: "workflow", Do: w.deactivateWorkflow},
		{Path: "/workflows/{name}/delete", Nav: "/workflows", Verb: auth.Manage, Kind: "workflow", Ask: w.askDropWorkflow, Do: w.dropWorkflow},
		{Path: "/new-schedule", Nav: "/schedules", Verb: auth.Manage, Kind: "schedule", Ask: w.askNewSchedule, Do: w.createSchedule},
		{Path: "/schedules/{schedule}/change", Nav: "/schedules", Verb: auth.Manage, Kind: "schedule", Ask: w.askChangeSchedule, Do: w.changeSchedule},
		site.Operated(w.Operations, work.PauseSchedule, "/schedules", nil, toSchedule("said.schedule.paused")),
		site.Operated(w.Operations, work.ResumeSchedule, "/schedules", nil, toSchedule("said.schedule.resumed")),
		{Path: "/schedules/{schedule}/run", Nav: "/schedules", Verb: auth.Submit, Kind: "workflow", Ask: w.askRunSchedule, Do: w.runSchedule},
		site.Addressed("/schedules/{schedule}/delete", site.Operated(w.Operations, work.DropSchedule, "/schedules", w.askDropSchedule, scheduleGone)),
		{Path: "/new-trigger", Nav: "/triggers", Verb: auth.Manage, Kind: "trigger", Ask: w.askNewTrigger, Do: w.createTrigger},
		{Path: "/new-webhook", Nav: "/triggers", Verb: auth.Manage, Kind: "trigger", Ask: w.askNewWebhook, Do: w.createWebhook},
		site.Operated(w.Operations, workflow.RotateTrigger, "/triggers", w.askRotateTrigger, secretShown),
		{Path: "/triggers/{trigger}/change", Nav: "/triggers", Verb: auth.Manage, Kind: "trigger", Ask: w.askChangeTrigger, Do: w.changeTrigger},
		site.Operated(w.Operations, workflow.PauseTrigger, "/triggers", nil, toTrigger("said.trigger.paused")),
		site.Operated(w.Operations, workflow.ResumeTrigger, "/triggers", nil, toTrigger("said.trigger.resumed")),
		site.Addressed("/triggers/{trigger}/delete", site.Operated(w.Operations, workflow.DropTrigger, "/triggers", w.askDropTrigger, triggerGone)),
	}
}

// files are what is served whole and not as a page.
func (w *pages) files() []site.File {
	return []site.File{
		{Path: "/workflows/{name}/source.txt", Verb: auth.Read, Kind: "workflow", Load: w.workflowSourceFile},
	}
}
