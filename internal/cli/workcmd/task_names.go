package workcmd

import (
	"context"
	"fmt"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/work"
)

// FindTask is the id of the task that is meant.
func FindTask(ctx context.Context, s *app.Session, text string) (weir.ID, error) {
	if id, err := weir.ParseID(text); err == nil {
		return id, nil
	}
	t, err := work.ShowTask.Call(ctx, s.Operations, &work.NamedTask{Task: text})
	return t.ID, err
}

// FindJob is the id of the job that is meant.
func FindJob(ctx context.Context, s *app.Session, text string) (weir.ID, error) {
	if id, err := weir.ParseID(text); err == nil {
		return id, nil
	}
	j, err := work.ShowJob.Call(ctx, s.Operations, &work.NamedJob{Job: text})
	return j.ID, err
}

// ShowTask reads a task.
func ShowTask(ctx context.Context, s *app.Session, id weir.ID) (view.Task, error) {
	return work.ShowTask.Call(ctx, s.Operations, &work.NamedTask{Task: id.String()})
}

// ShowJob reads a job.
func ShowJob(ctx context.Context, s *app.Session, id weir.ID) (view.Job, error) {
	return work.ShowJob.Call(ctx, s.Operations, &work.NamedJob{Job: id.String()})
}

// taskEvents is the life of a task, oldest first.
func taskEvents(ctx context.Context, s *app.Session, id weir.ID) ([]view.Event, error) {
	page, err := work.TaskEvents.Call(ctx, s.Operations, &work.NamedTask{Task: id.String()})
	return page.Items, err
}

// ListTasks reads so many tasks, listJobs so many jobs.
func ListTasks(ctx context.Context, s *app.Session, f work.TaskFilter, page view.Page) ([]view.Task, error) {
	return op.Full(ctx, s.Operations, work.ListTasks, work.ListingTasks{Paged: op.Paged{Limit: page.Limit, After: page.After}, TaskFilter: f})
}

func listJobs(ctx context.Context, s *app.Session, f work.JobFilter, page view.Page) ([]view.Job, error) {
	return op.Full(ctx, s.Operations, work.ListJobs, work.ListingJobs{Paged: op.Paged{Limit: page.Limit, After: page.After}, JobFilter: f})
}

// taskNames says how the tasks of a job are called: their key, else their
// service.
type taskNames struct {
	byID  map[weir.ID]string
	width int
}

func namesOf(tasks []view.Task) *taskNames {
	n := &taskNames{byID: make(map[weir.ID]string, len(tasks))}
	for _, t := range tasks {
		name := command.Clean(taskName(t))
		n.byID[t.ID] = name
		n.width = max(n.width, command.Cells(name))
	}
	n.width = min(n.width, 24) // one long name does not push all the others away
	return n
}

// of is the name of the event's task, as wide as the others.
func (n *taskNames) of(e view.Event) string {
	name := n.byID[e.Task]
	return fmt.Sprintf("%s%*s", name, max(0, n.width-command.Cells(name)), "")
}
