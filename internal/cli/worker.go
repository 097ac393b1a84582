package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/work"
)

func (e *env) worker() *cobra.Command {
	return e.noun("worker", "Processes that do the work", []string{"workers"}, e.workerList(), e.workerShow())
}

func (e *env) workerList() *cobra.Command {
	return lists(e, work.ListWorkers, &cobra.Command{
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

func (e *env) workerShow() *cobra.Command {
	c := &cobra.Command{Use: "show NAME", Short: "Show a worker and what it runs"}
	return shows(e, c, readWorker, func(p workerPage) string { return p.Name }, printWorker)
}

func readWorker(ctx context.Context, s *app.Session, name string) (page workerPage, err error) {
	page.Tasks = []view.Task{}
	if page.Worker, err = work.ShowWorker.Call(ctx, s.Operations, &work.NamedWorker{Worker: name}); err == nil && page.Running > 0 {
		page.Tasks, err = listTasks(ctx, s, work.TaskFilter{Worker: page.Name}, view.Page{Limit: 1000})
	}
	return page, err
}

func printWorker(o *output, w workerPage) error {
	if err := o.details([]field{
		{"Worker", w.Name},
		{"State", w.State},
		{"Node", w.Node},
		{"Services", strings.Join(w.Services, ", ")},
		{"Labels", labels(w.Labels)},
		{"Running", fmt.Sprint(w.Running)},
		{"Started", o.both(w.StartedAt)},
		{"Seen", o.both(w.SeenAt)},
		{"Stopped", o.both(w.StoppedAt)},
	}); err != nil {
		return err
	}
	return taskListing(&served{}).below(o, "", w.Tasks)
}

var workerListing = listing[view.Worker]{
	name:  func(w view.Worker) string { return w.Name },
	empty: []string{"There are no workers: tasks wait until one comes.", "Start one with the SDK, or look at the demo: weir up --demo"},
	columns: []column[view.Worker]{
		{title: "NAME", value: func(_ *output, w view.Worker) string { return w.Name }},
		{title: "STATE", value: func(_ *output, w view.Worker) string { return w.State }, paint: stateColor},
		{title: "NODE", value: func(_ *output, w view.Worker) string { return w.Node }},
		{title: "RUNNING", value: func(_ *output, w view.Worker) string { return fmt.Sprint(w.Running) }},
		{title: "STARTED", ages: true, value: func(o *output, w view.Worker) string { return o.ago(w.StartedAt) }},
		{title: "SEEN", ages: true, value: func(o *output, w view.Worker) string { return o.ago(w.SeenAt) }},
		{title: "LABELS", wide: true, value: func(_ *output, w view.Worker) string { return labels(w.Labels) }},
		{title: "SERVICES", value: func(_ *output, w view.Worker) string { return strings.Join(w.Services, ",") }},
	},
}
