package site

import (
	"net/url"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/web/ui"
)

// TaskPath is the page of a task.
func TaskPath(id weir.ID) string { return ui.Path("tasks", id.String()) }

// JobPath is the page of a job.
func JobPath(id weir.ID) string { return ui.Path("jobs", id.String()) }

// SubjectPath is the page of what an event is about, or empty.
func SubjectPath(e view.Event) string {
	switch {
	case !e.Task.IsZero():
		return TaskPath(e.Task)
	case e.Kind == "job" && !e.Job.IsZero():
		return JobPath(e.Job)
	case e.Subject == "":
		return ""
	}
	switch e.Kind {
	case "fleet":
		return ui.Path("fleet", "jobs", e.Subject)
	case "pc":
		return PCPath(e.Subject)
	case "database", "device", "node", "pool", "rollout", "schedule", "trigger", "worker", "workflow", "workspace":
		return ui.Path(e.Kind+"s", e.Subject)
	}
	return ""
}

// PCPath is the list of the devices of a PC.
func PCPath(name string) string { return QueryPath("/devices", "pc", name) }

// FleetJobPath is the page of a fleet job.
func FleetJobPath(id weir.ID) string { return ui.Path("fleet", "jobs", id.String()) }

// WorkerPath is the page of a worker.
func WorkerPath(name string) string { return ui.Path("workers", name) }

// SchedulePath is the page of a schedule.
func SchedulePath(name string) string { return ui.Path("schedules", name) }

// TriggerPath is the page of a trigger.
func TriggerPath(name string) string { return ui.Path("triggers", name) }

// WorkflowPath is the page of a workflow.
func WorkflowPath(name string) string { return ui.Path("workflows", name) }

// RolloutPath is the page of a rollout.
func RolloutPath(id weir.ID) string { return ui.Path("rollouts", id.String()) }

// WorkspacePath is the page of a workspace.
func WorkspacePath(id weir.ID) string { return ui.Path("workspaces", id.String()) }

// QueryPath is an address with one parameter.
func QueryPath(path, name, value string) string {
	return path + "?" + url.Values{name: {value}}.Encode()
}

// EventsPath is the timeline of one thing.
func EventsPath(kind, name string) string {
	return "/timeline?" + url.Values{"kind": {kind}, "subject": {name}}.Encode()
}

// Local is a path of ours that a page may lead on to, or "/": an address from
// outside must not lead outside.
func Local(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || !strings.HasPrefix(path, "/") ||
		strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n\t") {
		return "/"
	}
	return path
}

// NodePath is the page of a node.
func NodePath(name string) string { return ui.Path("nodes", name) }
