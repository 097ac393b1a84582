package workpages

import (
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/work"
)

// pages are those of the domain, with the stores they ask.
type pages struct {
	*site.Config
	// shelf remembers the versions of workflows that jobs are runs of.
	shelf shelf
}

// Routes are the pages of the domain, and what people can do there.
func Routes(c *site.Config) site.Routes {
	w := &pages{Config: c}
	return site.Routes{Pages: w.pages(), Actions: w.actions(), Files: w.files(), Downloads: w.downloads()}
}

// pages are all pages. A right stands on the line of what it opens.
func (w *pages) pages() []site.Page {
	return []site.Page{
		{Path: "/jobs", Verb: auth.Read, Kind: "job", Load: w.jobs},
		{Path: "/jobs/{id}", Nav: "/jobs", Verb: auth.Read, Kind: "job", Load: w.aJob("", w.jobGraph)},
		{Path: "/jobs/{id}/gantt", Nav: "/jobs", Verb: auth.Read, Kind: "job", Load: w.aJob("/gantt", w.jobGantt)},
		{Path: "/jobs/{id}/tasks", Nav: "/jobs", Verb: auth.Read, Kind: "job", Load: w.aJob("/tasks", w.jobTasks)},
		{Path: "/jobs/{id}/artifacts", Nav: "/jobs", Verb: auth.Read, Kind: "artifact", Load: w.aJob("/artifacts", w.jobArtifacts)},
		{Path: "/jobs/{id}/timeline", Nav: "/jobs", Verb: auth.Read, Kind: "job", Load: w.aJob("/timeline", w.jobTimeline)},
		{Path: "/jobs/{id}/params", Nav: "/jobs", Verb: auth.Read, Kind: "job", Load: w.aJob("/params", w.jobParams)},
		{Path: "/tasks", Verb: auth.Read, Kind: "task", Load: w.tasks},
		{Path: "/tasks/{id}", Nav: "/tasks", Verb: auth.Read, Kind: "task", Load: w.task},
		{Path: "/artifacts/{id}", Nav: "/jobs", Verb: auth.Read, Kind: "artifact", Load: w.artifact},
	}
}

// actions are all that people can do.
func (w *pages) actions() []site.Action {
	return []site.Action{
		{Path: "/new-task", Nav: "/tasks", Verb: auth.Submit, Kind: "task", Ask: askNewTask, Do: w.submitTask},
		site.Operated(w.Operations, work.CancelTask, "/tasks", w.askCancelTask, toTask(canceledTask)),
		site.Operated(w.Operations, work.RetryTask, "/tasks", nil, said("said.task.retry")),
		site.Operated(w.Operations, work.SkipTask, "/tasks", w.askSkipTask, said("said.task.skip")),
		site.Operated(w.Operations, work.HoldTask, "/tasks", w.askHoldTask, said("said.task.hold")),
		site.Operated(w.Operations, work.ReleaseTask, "/tasks", w.askReleaseTask, said("said.task.release")),
		site.Operated(w.Operations, work.RefuseTask, "/tasks", w.askRefuseTask, said("said.task.refuse")),
		site.Operated(w.Operations, work.LinkTask, "/tasks", w.askLinkTask, w.linkShown),
		{Path: "/jobs/{id}/signal", Nav: "/jobs", Verb: auth.Command, Kind: "job", Ask: w.askSignal, Do: w.signalJob},
		site.Operated(w.Operations, work.SetPriority, "/tasks", w.askPriority, toTask(newPriority)),
		{Path: "/bulk/tasks/{action}", Nav: "/tasks", Verb: auth.Command, Kind: "task", Ask: askBulk("task", w.bulkTasks), Do: doBulk("task", w.bulkTasks)},
		{Path: "/bulk/jobs/{action}", Nav: "/jobs", Verb: auth.Command, Kind: "job", Ask: askBulk("job", w.bulkJobs), Do: doBulk("job", w.bulkJobs)},
		site.Operated(w.Operations, work.CancelJob, "/jobs", w.askCancelJob, canceledJob),
		{Path: "/jobs/{id}/rerun", Nav: "/jobs", Verb: auth.Submit, Kind: "job", Ask: w.askRerun, Do: w.rerunJob},
		site.Operated(w.Operations, work.RetryJob, "/jobs", nil, retriedJob),
	}
}

// files are what is served whole and not as a page.
func (w *pages) files() []site.File {
	return []site.File{
		{Path: "/jobs/{id}/params.json", Verb: auth.Read, Kind: "job", Load: w.jobParamsFile},
		{Path: "/tasks/{id}/params.json", Verb: auth.Read, Kind: "task", Load: w.taskFile(site.JSONType, taskParams)},
		{Path: "/tasks/{id}/result.json", Verb: auth.Read, Kind: "task", Load: w.taskFile(site.JSONType, taskResult)},
		{Path: "/tasks/{id}/events.json", Verb: auth.Read, Kind: "task", Load: w.taskFile(site.JSONType, w.taskEvents)},
		{Path: "/tasks/{id}/log", Verb: auth.Read, Kind: "task", Load: w.taskFile(site.TextType, w.taskLog)},
	}
}

// downloads are data of any size.
func (w *pages) downloads() []site.Download {
	return []site.Download{
		{Path: "/artifacts/{id}/content", Verb: auth.Read, Kind: "artifact", Serve: w.artifactContent},
		{Path: "/tasks/{id}/output", Verb: auth.Read, Kind: "artifact", Serve: w.taskOutput},
	}
}
