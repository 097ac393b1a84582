package workpages

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/work"
)

const (
	// graphMost is how large a job may be for a page of one of its tasks to
	// read its graph.
	graphMost = 500
	// eventsMost is how many events a page of a task lists.
	eventsMost = 100
)

// taskView is all that is known about a task.
type taskView struct {
	view.Task
	job      view.Job
	acts     []act
	why      []work.Reason
	attempts []view.Attempt
	// events are oldest first; the page shows the last eventsMost of them.
	events            []view.Event
	needs, dependents []view.GraphTask
	edition           edition
	output            outputView
	artifacts         artifactsView
	// children are the jobs that it waits for, or waited for.
	children []view.Job
	// rerun is where its job is run again from here; empty: it cannot be.
	rerun string
}

// waits says that the task has not started: why is the first thing to know.
func (v taskView) waits() bool { return v.State == "pending" || v.State == "available" }

func (v taskView) ended() bool { return !v.waits() && v.State != "running" }

// saidMore says that not everything the task said was read.
func (v taskView) saidMore() bool { return len(v.events)-moved(v.events) >= view.LinesMost }

func moved(events []view.Event) (n int) {
	for _, e := range events {
		if _, ok := leadsTo[e.Type]; ok {
			n++
		}
	}
	return n
}

func (w *pages) task(r *site.Request) (site.View, error) {
	id, err := r.ID("id")
	if err != nil {
		return site.View{}, err
	}
	ctx := r.Context()
	var v taskView
	if v.Task, err = w.Store.Task(ctx, id); err != nil {
		return site.View{}, err
	}
	if v.job, err = w.jobOf(r, v.Job); err != nil {
		return site.View{}, err
	}
	if v.waits() {
		why, err := work.WhyTask.Call(ctx, w.Operations, &work.NamedTask{Task: id.String()})
		if err != nil {
			return site.View{}, err
		}
		v.why = why.Items
	}
	if v.events, err = w.Store.TaskEvents(ctx, id); err != nil {
		return site.View{}, err
	}
	v.attempts = view.AttemptsOf(v.events)
	if !v.job.ID.IsZero() && v.job.Total <= graphMost {
		g, err := w.Store.Graph(ctx, v.job.ID)
		if err != nil {
			return site.View{}, err
		}
		v.needs, v.dependents = around(g, id)
	}
	if err := w.taskFlow(r, &v); err != nil {
		return site.View{}, err
	}
	v.acts = append(waitActs(ctx, v, rightsOf(r)), taskActs(ctx, v.Task, rightsOf(r), "")...)
	for i := range v.acts {
		if v.acts[i].Icon == "play" && v.Service != waitService {
			v.acts[i].Label = releaseLabel(ctx, v.edition, v.Key)
		}
	}
	return site.View{Head: ui.Head{Title: site.TaskName(v.Task)}, Plain: true, Body: taskPage(v), Follow: &timeline.Filter{Task: id}}, nil
}

// taskFlow reads what a step of a workflow has besides: its output, its
// artifacts, the jobs that it waits for.
func (w *pages) taskFlow(r *site.Request, v *taskView) (err error) {
	if v.edition, err = w.flowOf(r.Context(), v.job); err != nil {
		return err
	}
	if v.output, err = w.output(r, v.Task); err != nil {
		return err
	}
	if v.artifacts, err = w.artifactList(r, view.ArtifactFilter{Task: v.ID}); err != nil {
		return err
	}
	if v.Plan != nil {
		if v.children, _, err = w.Store.JobPage(r.Context(), view.JobFilter{Parent: v.ID}, view.Page{Limit: childrenShown}); err != nil {
			return err
		}
	}
	if v.edition.known() && v.job.Ended() && r.Can(auth.Submit, "job") {
		v.rerun = site.QueryPath(site.JobPath(v.job.ID)+"/rerun", "from", stem(v.Key))
	}
	return nil
}

// childrenShown is how many jobs of a task its page lists: one for each attempt.
const childrenShown = 10

// around are the tasks that one needs, and those that need it.
func around(g view.Graph, id weir.ID) (needs, dependents []view.GraphTask) {
	for _, e := range g.Edges {
		if g.Nodes[e[1]].ID == id {
			needs = append(needs, g.Nodes[e[0]])
		}
		if g.Nodes[e[0]].ID == id {
			dependents = append(dependents, g.Nodes[e[1]])
		}
	}
	return needs, dependents
}

// moves are the events that change a state. All others are what workers and
// people said.
var moves = map[string]bool{
	"submitted": true, "gated": true, "opened": true, "held": true, "released": true, "claimed": true, "started": true, "done": true, "failed": true,
	"canceled": true, "skipped": true, "retrying": true, "snoozed": true, "expired": true, "returned": true, "retried": true, "priority": true, "stale": true,
}

// logText is what the attempts of a task said, oldest first, and why they failed.
func logText(events []view.Event) string {
	var b strings.Builder
	for _, e := range events {
		said := !moves[e.Type] && e.Message != ""
		failed := (e.Type == "retrying" || e.Type == "failed" || e.Type == "expired") && e.Message != ""
		if !said && !failed {
			continue
		}
		stamp := "\x1b[0m" + e.At.UTC().Format("15:04:05.000") + " " + levelMark(e, failed)
		for line := range strings.Lines(e.Message) {
			fmt.Fprintf(&b, "%s %s\n", stamp, strings.TrimRight(line, "\r\n"))
			stamp = "             |    "
		}
	}
	return b.String()
}

// levelMark is a word of one length, so that lines stand below each other.
func levelMark(e view.Event, failed bool) string {
	switch {
	case failed || e.Level == "error":
		return "\x1b[31merror\x1b[0m"
	case e.Level == "warn":
		return "\x1b[33mwarn \x1b[0m"
	case e.Level == "debug":
		return "\x1b[90mdebug\x1b[0m"
	}
	return "\x1b[90minfo \x1b[0m"
}

// taskFile serves a part of a task whole.
func (w *pages) taskFile(kind string, data func(*site.Request, view.Task) ([]byte, error)) func(*site.Request) (string, []byte, error) {
	return func(r *site.Request) (string, []byte, error) {
		id, err := r.ID("id")
		if err != nil {
			return "", nil, err
		}
		t, err := w.Store.Task(r.Context(), id)
		if err != nil {
			return "", nil, err
		}
		text, err := data(r, t)
		return kind, text, err
	}
}

func taskParams(_ *site.Request, t view.Task) ([]byte, error) { return orNull(t.Params), nil }

func taskResult(_ *site.Request, t view.Task) ([]byte, error) { return orNull(t.Result), nil }

func (w *pages) taskLog(r *site.Request, t view.Task) ([]byte, error) {
	events, err := w.Store.TaskEvents(r.Context(), t.ID)
	return []byte(ui.PlainLog(logText(events))), err
}

func (w *pages) taskEvents(r *site.Request, t view.Task) ([]byte, error) {
	events, err := w.Store.TaskEvents(r.Context(), t.ID)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(events)
	if err != nil {
		return nil, fmt.Errorf("encode the events: %w", err)
	}
	return text, nil
}
