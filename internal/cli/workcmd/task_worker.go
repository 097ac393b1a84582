package workcmd

import (
	"context"
	"slices"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/work"
)

// servedMost is how many workers are read to say who serves what, classesMost for how many
// classes of tasks it is asked why none is taken.
const (
	servedMost  = 1000
	classesMost = 10
)

// Served knows why tasks that may start are not taken, and which workers live where there
// are no tasks.
type Served struct {
	workers []view.Worker
	// why is the reason by class: the one that weir why gives.
	why map[string]string
}

// whoServes asks why the tasks that may start are not taken, once for each class. If there
// are no tasks, it reads the workers: a person wants to know what to submit.
func whoServes(ctx context.Context, s *app.Session, tasks []view.Task) (*Served, error) {
	if len(tasks) == 0 {
		found, err := work.ListWorkers.Call(ctx, s.Operations, &work.ListingWorkers{Paged: op.Paged{Limit: servedMost}})
		live := slices.DeleteFunc(found.Items, func(w view.Worker) bool { return w.State != "live" })
		return &Served{workers: live}, err
	}
	out := &Served{why: map[string]string{}}
	for _, t := range tasks {
		class := t.Class()
		if _, known := out.why[class]; known || t.State != "available" || len(out.why) == classesMost {
			continue
		}
		reasons, err := readWhy(ctx, s, t.ID)
		if err != nil {
			return nil, err
		}
		out.why[class] = ""
		for _, r := range reasons {
			if r.Gate == "worker" && !r.Open {
				out.why[class] = r.Text
			}
		}
	}
	return out, nil
}

// note is what to know about a task where it stands.
func (s *Served) note(t view.Task) string {
	if note := taskNote(t); note != "" || t.State != "available" {
		return note
	}
	return s.why[t.Class()]
}

// example is a submission that would be done, if one can be named.
func (s *Served) example() string {
	var services []string
	for _, w := range s.workers {
		services = append(services, w.Services...)
	}
	switch {
	case slices.Contains(services, "hello"):
		return `Submit one with: weir task submit hello --params '{"name": "you"}'`
	case len(services) > 0:
		return "Submit one with: weir task submit " + command.Clean(slices.Min(services))
	}
	return "Submit one with: weir task submit SERVICE; it waits for a worker that serves it"
}

// readTasks reads a page of tasks and how to show it.
func readTasks(ctx context.Context, s *app.Session, f work.TaskFilter, page view.Page) ([]view.Task, command.Listing[view.Task], error) {
	tasks, err := ListTasks(ctx, s, f, page)
	if err != nil {
		return nil, command.Listing[view.Task]{}, err
	}
	who, err := whoServes(ctx, s, tasks)
	if err != nil {
		return nil, command.Listing[view.Task]{}, err
	}
	shown := TaskListing(who)
	if f != (work.TaskFilter{}) {
		shown.Empty = []string{"No task matches.", "See them all with: weir task list"}
	}
	return tasks, shown, nil
}

// ServiceNames are those that a live worker serves.
func ServiceNames(ctx context.Context, s *app.Session) (words [][2]string, err error) {
	workers, err := work.ListWorkers.Call(ctx, s.Operations, &work.ListingWorkers{Paged: op.Paged{Limit: servedMost}})
	var services []string
	for _, w := range workers.Items {
		services = append(services, w.Services...)
	}
	slices.Sort(services)
	for _, name := range slices.Compact(services) {
		words = append(words, [2]string{name, ""})
	}
	return words, err
}
