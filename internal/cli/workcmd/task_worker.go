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

// servedMost is how many workers are read to say who serves what. Where there
// are more, nothing is said: somebody may be among the rest.
const servedMost = 1000

// Served knows the workers that live, to say of a task that nobody takes it.
type Served struct {
	workers []view.Worker
	// known is false when the workers were not read, or not all of them.
	known bool
}

// whoServes reads the workers, if the tasks give a reason to: one of them may
// start, or there is none and a person wants to know what to submit.
func whoServes(ctx context.Context, s *app.Session, tasks []view.Task) (*Served, error) {
	if len(tasks) > 0 && !slices.ContainsFunc(tasks, func(t view.Task) bool { return t.State == "available" }) {
		return &Served{}, nil
	}
	found, err := work.ListWorkers.Call(ctx, s.Operations, &work.ListingWorkers{Paged: op.Paged{Limit: servedMost}})
	if err != nil {
		return nil, err
	}
	workers := found.Items
	live := slices.DeleteFunc(workers, func(w view.Worker) bool { return w.State != "live" })
	return &Served{workers: live, known: len(workers) < servedMost}, nil
}

// note is what to know about a task where it stands.
func (s *Served) note(t view.Task) string {
	note := taskNote(t)
	if note == "" && t.State == "available" && s.known && !s.takes(t) {
		return "no live worker serves it"
	}
	return note
}

// takes says that a live worker serves the task and has its labels.
func (s *Served) takes(t view.Task) bool {
	return slices.ContainsFunc(s.workers, func(w view.Worker) bool {
		for k, v := range t.Labels {
			if w.Labels[k] != v {
				return false
			}
		}
		return slices.Contains(w.Services, t.Service)
	})
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
