package web

import (
	"net/http"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/accountpages"
	"github.com/weirhq/weir/internal/web/capacitypages"
	"github.com/weirhq/weir/internal/web/fleetpages"
	"github.com/weirhq/weir/internal/web/rolloutpages"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/systempages"
	"github.com/weirhq/weir/internal/web/workspacepages"
	"github.com/weirhq/weir/internal/work"
)

// pages are all pages. A right stands on the line of what it opens.
func (w *Web) pages() []site.Page {
	return []site.Page{
		{Path: "/workflows", Verb: auth.Read, Kind: "workflow", Load: w.workflows},
		{Path: "/workflows/{name}", Nav: "/workflows", Verb: auth.Read, Kind: "workflow", Load: w.aWorkflow("", w.workflowSteps)},
		{Path: "/workflows/{name}/jobs", Nav: "/workflows", Verb: auth.Read, Kind: "workflow", Load: w.aWorkflow("/jobs", w.workflowJobs)},
		{Path: "/workflows/{name}/versions", Nav: "/workflows", Verb: auth.Read, Kind: "workflow", Load: w.aWorkflow("/versions", w.workflowVersions)},
		{Path: "/workflows/{name}/source", Nav: "/workflows", Verb: auth.Read, Kind: "workflow", Load: w.aWorkflow("/source", w.workflowSource)},
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
		{Path: "/search", Nav: "-", Verb: auth.Read, Kind: "task", Load: w.search},
		{Path: "/schedules", Verb: auth.Read, Kind: "schedule", Load: w.schedules},
		{Path: "/schedules/{schedule}", Nav: "/schedules", Verb: auth.Read, Kind: "schedule", Load: w.schedule},
	}
}

// actions are all that people can do.
func (w *Web) actions() []site.Action {
	return []site.Action{
		{Path: "/new-task", Nav: "/tasks", Verb: auth.Submit, Kind: "task", Ask: askNewTask, Do: w.submitTask},
		site.Operated(w.config.Operations, work.CancelTask, "/tasks", w.askCancelTask, toTask(canceledTask)),
		site.Operated(w.config.Operations, work.RetryTask, "/tasks", nil, said("said.task.retry")),
		site.Operated(w.config.Operations, work.SkipTask, "/tasks", w.askSkipTask, said("said.task.skip")),
		site.Operated(w.config.Operations, work.HoldTask, "/tasks", w.askHoldTask, said("said.task.hold")),
		site.Operated(w.config.Operations, work.ReleaseTask, "/tasks", nil, said("said.task.release")),
		site.Operated(w.config.Operations, work.SetPriority, "/tasks", w.askPriority, toTask(newPriority)),
		{Path: "/bulk/tasks/{action}", Nav: "/tasks", Verb: auth.Command, Kind: "task", Ask: askBulk("task", w.bulkTasks), Do: doBulk("task", w.bulkTasks)},
		{Path: "/bulk/jobs/{action}", Nav: "/jobs", Verb: auth.Command, Kind: "job", Ask: askBulk("job", w.bulkJobs), Do: doBulk("job", w.bulkJobs)},
		site.Operated(w.config.Operations, work.CancelJob, "/jobs", w.askCancelJob, canceledJob),
		{Path: "/jobs/{id}/rerun", Nav: "/jobs", Verb: auth.Submit, Kind: "job", Ask: w.askRerun, Do: w.rerunJob},
		site.Operated(w.config.Operations, work.RetryJob, "/jobs", nil, retriedJob),
		{Path: "/new-workflow", Nav: "/workflows", Verb: auth.Manage, Kind: "workflow", Ask: w.askNewWorkflow, Do: w.putWorkflow},
		{Path: "/workflows/{name}/run", Nav: "/workflows", Verb: auth.Submit, Kind: "workflow", Ask: w.askRun, Do: w.runWorkflow},
		{Path: "/workflows/{name}/activate", Nav: "/workflows", Verb: auth.Manage, Kind: "workflow", Do: w.activateWorkflow},
		{Path: "/workflows/{name}/deactivate", Nav: "/workflows", Verb: auth.Manage, Kind: "workflow", Do: w.deactivateWorkflow},
		{Path: "/workflows/{name}/delete", Nav: "/workflows", Verb: auth.Manage, Kind: "workflow", Ask: w.askDropWorkflow, Do: w.dropWorkflow},
		{Path: "/new-schedule", Nav: "/schedules", Verb: auth.Manage, Kind: "schedule", Ask: w.askNewSchedule, Do: w.createSchedule},
		{Path: "/schedules/{schedule}/change", Nav: "/schedules", Verb: auth.Manage, Kind: "schedule", Ask: w.askChangeSchedule, Do: w.changeSchedule},
		site.Operated(w.config.Operations, work.PauseSchedule, "/schedules", nil, toSchedule("said.schedule.paused")),
		site.Operated(w.config.Operations, work.ResumeSchedule, "/schedules", nil, toSchedule("said.schedule.resumed")),
		{Path: "/schedules/{schedule}/run", Nav: "/schedules", Verb: auth.Submit, Kind: "workflow", Ask: w.askRunSchedule, Do: w.runSchedule},
		site.Addressed("/schedules/{schedule}/delete", site.Operated(w.config.Operations, work.DropSchedule, "/schedules", w.askDropSchedule, scheduleGone)),
	}
}

// files are what is served whole and not as a page.
func (w *Web) files() []site.File {
	return []site.File{
		{Path: "/jobs/{id}/params.json", Verb: auth.Read, Kind: "job", Load: w.jobParamsFile},
		{Path: "/workflows/{name}/source.txt", Verb: auth.Read, Kind: "workflow", Load: w.workflowSourceFile},
		{Path: "/tasks/{id}/params.json", Verb: auth.Read, Kind: "task", Load: w.taskFile(site.JSONType, taskParams)},
		{Path: "/tasks/{id}/result.json", Verb: auth.Read, Kind: "task", Load: w.taskFile(site.JSONType, taskResult)},
		{Path: "/tasks/{id}/events.json", Verb: auth.Read, Kind: "task", Load: w.taskFile(site.JSONType, w.taskEvents)},
		{Path: "/tasks/{id}/log", Verb: auth.Read, Kind: "task", Load: w.taskFile(site.TextType, w.taskLog)},
	}
}

// downloads are data of any size.
func (w *Web) downloads() []site.Download {
	return []site.Download{
		{Path: "/artifacts/{id}/content", Verb: auth.Read, Kind: "artifact", Serve: w.artifactContent},
		{Path: "/tasks/{id}/output", Verb: auth.Read, Kind: "artifact", Serve: w.taskOutput},
	}
}

// domains are the pages of each domain.
func (w *Web) domains() []site.Routes {
	return []site.Routes{
		{Pages: w.pages(), Actions: w.actions(), Files: w.files(), Downloads: w.downloads()},
		fleetpages.Routes(&w.config),
		workspacepages.Routes(&w.config),
		rolloutpages.Routes(&w.config),
		capacitypages.Routes(&w.config),
		accountpages.Routes(&w.config),
		systempages.Routes(&w.config),
	}
}

func (w *Web) routes() {
	for _, domain := range w.served {
		for _, p := range domain.Pages {
			w.page(p)
		}
		for _, a := range domain.Actions {
			w.action(a)
		}
		for _, f := range domain.Files {
			w.file(f)
		}
		for _, d := range domain.Downloads {
			w.download(d)
		}
	}
	w.mux.HandleFunc("GET /login", w.loginPage)
	w.mux.HandleFunc("POST /login", w.login)
	w.mux.HandleFunc("GET /login/oidc", w.loginOIDC)
	w.mux.HandleFunc("GET /login/oidc/return", w.returnOIDC)
	w.mux.HandleFunc("POST /logout", w.logout)
	w.mux.HandleFunc("POST /language", w.setLanguage)
	w.mux.HandleFunc("GET /setup", w.setupPage)
	w.mux.HandleFunc("POST /setup", w.setup)
	w.mux.HandleFunc("GET /live", w.live)
	w.mux.HandleFunc("/", func(rw http.ResponseWriter, hr *http.Request) {
		r := w.request(hr)
		if r.Subject.Nobody() {
			w.fail(rw, r, problem.New(problem.Unauthenticated, "log in", "nobody is logged in"))
			return
		}
		w.fail(rw, r, problem.New(problem.NotFound, "", "no page is called %s", hr.URL.Path))
	})
}

// Route is a way into the dashboard and the right that it takes.
type Route struct {
	Method, Path string
	Verb         auth.Verb
	Kind         string
	// Own says that everybody may who has the thing.
	Own bool
}

// Routes are all that takes a right, for tests and for the reference.
func (w *Web) Routes() []Route {
	var out []Route
	for _, domain := range w.served {
		for _, p := range domain.Pages {
			out = append(out, Route{http.MethodGet, p.Path, p.Verb, p.Kind, p.Own})
		}
		for _, f := range domain.Files {
			out = append(out, Route{http.MethodGet, f.Path, f.Verb, f.Kind, false})
		}
		for _, d := range domain.Downloads {
			out = append(out, Route{http.MethodGet, d.Path, d.Verb, d.Kind, false})
		}
		for _, a := range domain.Actions {
			out = append(out, Route{http.MethodGet, a.Path, a.Verb, a.Kind, a.Own}, Route{http.MethodPost, a.Path, a.Verb, a.Kind, a.Own})
		}
	}
	return out
}
