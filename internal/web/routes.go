package web

import (
	"net/http"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/fleetpages"
	"github.com/weirhq/weir/internal/web/rolloutpages"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/web/workspacepages"
	"github.com/weirhq/weir/internal/work"
)

// pages are all pages. A right stands on the line of what it opens.
func (w *Web) pages() []site.Page {
	return []site.Page{
		{Path: "/", Verb: auth.Read, Kind: "task", Load: w.overview},
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
		{Path: "/timeline", Verb: auth.Read, Kind: "event", Load: w.timeline},
		{Path: "/pools", Verb: auth.Read, Kind: "pool", Load: w.pools},
		{Path: "/pools/{pool}", Nav: "/pools", Verb: auth.Read, Kind: "pool", Load: w.pool},
		{Path: "/nodes", Verb: auth.Read, Kind: "node", Load: w.nodes},
		{Path: "/nodes/{node}", Nav: "/nodes", Verb: auth.Read, Kind: "node", Load: w.node},
		{Path: "/joins", Nav: "/nodes", Verb: auth.Read, Kind: "join", Load: w.joins},
		{Path: "/workers", Nav: "/nodes", Verb: auth.Read, Kind: "worker", Load: w.workers},
		{Path: "/workers/{name}", Nav: "/nodes", Verb: auth.Read, Kind: "worker", Load: w.worker},
		{Path: "/health", Verb: auth.Read, Kind: "health", Load: w.health},
		{Path: "/health/doctor", Nav: "/health", Verb: auth.Read, Kind: "health", Load: w.doctor},
		// Settings tell how to reach the machine: they are for those who may
		// read the audit.
		{Path: "/settings", Verb: auth.Read, Kind: "audit", Load: w.settings},
		{Path: "/secrets", Verb: auth.Read, Kind: "secret", Load: w.secrets},
		{Path: "/users", Verb: auth.Administer, Kind: "user", Load: w.users},
		{Path: "/users/{user}", Nav: "/users", Verb: auth.Administer, Kind: "user", Load: w.user},
		{Path: "/tokens", Verb: auth.Manage, Kind: "token", Own: true, Load: w.tokens},
		{Path: "/account", Nav: "-", Verb: auth.Manage, Kind: "session", Own: true, Load: w.account},
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
		{Path: "/new-pool", Nav: "/pools", Verb: auth.Manage, Kind: "pool", Ask: askNewPool, Do: w.createPool},
		{Path: "/pools/{pool}/limits", Nav: "/pools", Verb: auth.Manage, Kind: "pool", Ask: w.askLimits, Do: w.setLimits},
		site.Addressed("/pools/{pool}/delete", site.Operated(w.config.Operations, work.DropPool, "/pools", w.askDropPool, poolGone)),
		{Path: "/nodes/{node}/drain", Nav: "/nodes", Verb: auth.Manage, Kind: "node", Ask: w.askDrain, Do: w.setMode(weir.Draining, "said.node.drain")},
		{Path: "/nodes/{node}/pause", Nav: "/nodes", Verb: auth.Manage, Kind: "node", Ask: w.askPauseNode, Do: w.setMode(weir.Paused, "said.node.pause")},
		{Path: "/nodes/{node}/resume", Nav: "/nodes", Verb: auth.Manage, Kind: "node", Ask: w.askResume, Do: w.setMode(weir.Active, "said.node.resume")},
		site.Operated(w.config.Operations, work.WakeNode, "/nodes", nil, nodeCalled),
		{Path: "/nodes/{node}/waking", Nav: "/nodes", Verb: auth.Manage, Kind: "node", Ask: w.askWaking, Do: w.setWaking},
		{Path: "/nodes/{node}/change", Nav: "/nodes", Verb: auth.Manage, Kind: "node", Ask: w.askChangeNode, Do: w.changeNode},
		site.Addressed("/nodes/{node}/delete", site.Operated(w.config.Operations, work.DropNode, "/nodes", w.askDropNode, nodeGone)),
		site.Addressed("/nodes/{node}/revoke", site.Operated(w.config.Operations, account.RevokeNode, "/nodes", w.askRevokeNode, nodeRevoked)),
		{Path: "/new-join", Nav: "/nodes", Verb: auth.Manage, Kind: "join", Ask: askNewJoin, Do: w.createJoin},
		site.Addressed("/joins/{join}/revoke", site.Operated(w.config.Operations, account.RevokeJoin, "/nodes", askRevokeJoin, joinRevoked)),
		{Path: "/new-secret", Nav: "/secrets", Verb: auth.Manage, Kind: "secret", Ask: w.askNewSecret, Do: w.setSecret},
		site.Addressed("/secrets/{secret}/delete", site.Operated(w.config.Operations, work.DeleteSecret, "/secrets", w.askDropSecret, func(r *site.Request, _ op.Nothing) site.Done {
			return site.Done{To: "/secrets", Say: ui.Say(r.Context(), "said.secret.gone", r.PathValue("secret"))}
		})),
		{Path: "/new-user", Nav: "/users", Verb: auth.Administer, Kind: "user", Ask: askNewUser, Do: w.createUser},
		site.Operated(w.config.Operations, account.SetRole, "/users", w.askRole, roleSet),
		{Path: "/users/{user}/link", Nav: "/users", Verb: auth.Administer, Kind: "user", Ask: w.askLink, Do: w.createLink},
		site.Operated(w.config.Operations, account.Disable, "/users", w.askDisable, disabledUser),
		site.Operated(w.config.Operations, account.Enable, "/users", nil, enabledUser),
		site.Addressed("/users/{user}/delete", site.Operated(w.config.Operations, account.DeleteUser, "/users", w.askDelete, deletedUser)),
		{Path: "/new-token", Nav: "/tokens", Verb: auth.Manage, Kind: "token", Own: true, Ask: askNewToken, Do: w.createToken},
		site.Addressed("/tokens/{token}/revoke", site.Operated(w.config.Operations, account.RevokeToken, "/tokens", askRevokeToken, tokenRevoked)),
		{Path: "/account/password", Nav: "-", Verb: auth.Manage, Kind: "user", Own: true, Ask: w.askPassword, Do: w.setPassword},
		site.Addressed("/sessions/{session}/revoke", site.Operated(w.config.Operations, account.RevokeSession, "-", askRevokeSession, sessionRevoked)),
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
