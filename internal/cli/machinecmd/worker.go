package machinecmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/cli/workcmd"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/work"
)

// Worker is the command weir worker.
func Worker(e *command.Env) *cobra.Command {
	return e.Noun("worker", "Processes that do the work", []string{"workers"}, workerList(e), workerShow(e))
}

func workerList(e *command.Env) *cobra.Command {
	return command.Lists(e, work.ListWorkers, &cobra.Command{
		Short: "List workers: those that live, and those that died without a word",
		Long: `List workers: those that live, and those that died without a word. A worker is
dead when it has not been seen for a while; what it held runs elsewhere.

Those that stopped in order are listed with --all.`,
	}, workerListing)
}

// workerPage is everything about a worker.
type workerPage struct {
	view.Worker
	Tasks []view.Task `json:"tasks"`
}

func workerShow(e *command.Env) *cobra.Command {
	c := &cobra.Command{Use: "show NAME", Short: "Show a worker and what it runs"}
	return command.Shows(e, c, readWorker, func(p workerPage) string { return p.Name }, printWorker)
}

func readWorker(ctx context.Context, s *app.Session, name string) (page workerPage, err error) {
	page.Tasks = []view.Task{}
	if page.Worker, err = work.ShowWorker.Call(ctx, s.Operations, &work.NamedWorker{Worker: name}); err == nil && page.Running > 0 {
		page.Tasks, err = workcmd.ListTasks(ctx, s, work.TaskFilter{Worker: page.Name}, view.Page{Limit: 1000})
	}
	return page, err
}

func printWorker(o *command.Output, w workerPage) error {
	if err := o.Details([]command.Field{
		{"Worker", w.Name},
		{"State", w.State},
		{"Node", w.Node},
		{"Services", strings.Join(w.Services, ", ")},
		{"Labels", command.Labels(w.Labels)},
		{"Running", fmt.Sprint(w.Running)},
		{"Started", o.Both(w.StartedAt)},
		{"Seen", o.Both(w.SeenAt)},
		{"Stopped", o.Both(w.StoppedAt)},
	}); err != nil {
		return err
	}
	return workcmd.TaskListing(&workcmd.Served{}).Below(o, "", w.Tasks)
}

var workerListing = command.Listing[view.Worker]{
	Name:  func(w view.Worker) string { return w.Name },
	Empty: []string{"There are no workers: tasks wait until one comes.", "Start one with the SDK, or look at the demo: weir up --demo"},
	Columns: []command.Column[view.Worker]{
		{Title: "NAME", Value: func(_ *command.Output, w view.Worker) string { return w.Name }},
		{Title: "STATE", Value: func(_ *command.Output, w view.Worker) string { return w.State }, Paint: command.StateColor},
		{Title: "NODE", Value: func(_ *command.Output, w view.Worker) string { return w.Node }},
		{Title: "RUNNING", Value: func(_ *command.Output, w view.Worker) string { return fmt.Sprint(w.Running) }},
		{Title: "STARTED", Ages: true, Value: func(o *command.Output, w view.Worker) string { return o.Ago(w.StartedAt) }},
		{Title: "SEEN", Ages: true, Value: func(o *command.Output, w view.Worker) string { return o.Ago(w.SeenAt) }},
		{Title: "LABELS", Wide: true, Value: func(_ *command.Output, w view.Worker) string { return command.Labels(w.Labels) }},
		{Title: "SERVICES", Value: func(_ *command.Output, w view.Worker) string { return strings.Join(w.Services, ",") }},
	},
}

// WorkerNames are those of workers.
var WorkerNames = command.Listed(work.ListWorkers, func(w view.Worker) (string, string) { return w.Name, w.State })
