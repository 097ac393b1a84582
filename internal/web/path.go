package web

import (
	"net/url"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/web/ui"
)

func taskPath(id weir.ID) string { return ui.Path("tasks", id.String()) }

func jobPath(id weir.ID) string { return ui.Path("jobs", id.String()) }

// subjectPath is the page of what an event is about, or empty.
func subjectPath(e view.Event) string {
	switch {
	case !e.Task.IsZero():
		return taskPath(e.Task)
	case e.Kind == "job" && !e.Job.IsZero():
		return jobPath(e.Job)
	case e.Subject == "":
		return ""
	}
	switch e.Kind {
	case "fleet":
		return ui.Path("fleet", "jobs", e.Subject)
	case "pc":
		return pcPath(e.Subject)
	case "database", "device", "node", "pool", "rollout", "schedule", "worker", "workflow", "workspace":
		return ui.Path(e.Kind+"s", e.Subject)
	}
	return ""
}

func pcPath(name string) string { return queryPath("/devices", "pc", name) }

func fleetJobPath(id weir.ID) string { return ui.Path("fleet", "jobs", id.String()) }

func workerPath(name string) string { return ui.Path("workers", name) }

func schedulePath(name string) string { return ui.Path("schedules", name) }

func workflowPath(name string) string { return ui.Path("workflows", name) }

func rolloutPath(id weir.ID) string { return ui.Path("rollouts", id.String()) }

func workspacePath(id weir.ID) string { return ui.Path("workspaces", id.String()) }

// queryPath is an address with one parameter.
func queryPath(path, name, value string) string {
	return path + "?" + url.Values{name: {value}}.Encode()
}

// eventsPath is the timeline of one thing.
func eventsPath(kind, name string) string {
	return "/timeline?" + url.Values{"kind": {kind}, "subject": {name}}.Encode()
}

// local is a path of ours that a page may lead on to, or "/": an address from
// outside must not lead outside.
func local(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || !strings.HasPrefix(path, "/") ||
		strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n\t") {
		return "/"
	}
	return path
}
