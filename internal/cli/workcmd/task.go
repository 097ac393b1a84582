package workcmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/work"
)

// Task is the command weir task.
func Task(e *command.Env) *cobra.Command {
	return e.Noun("task", "List, explain and command tasks", []string{"tasks"},
		taskList(e), taskShow(e), taskWhy(e), taskLog(e), taskSubmit(e), taskWatch(e), taskCancel(e), taskRetry(e), taskSkip(e), taskHold(e), taskRelease(e), taskRefuse(e), taskLink(e), taskPriority(e))
}

func taskList(e *command.Env) *cobra.Command {
	var flags taskFilterFlags
	var page view.Page
	c := &cobra.Command{
		Short:   "List tasks, newest first",
		Example: "  weir task list --state failed\n  weir task list --gate pool --pool gpu\n  weir task list --state running --watch\n  weir task list --since 2h --service render",
	}
	command.ListCommand(e, c, func(ctx context.Context, s *app.Session, _ []string) (l command.List[view.Task], err error) {
		f, err := flags.read(e.Output().Now)
		if err != nil {
			return l, err
		}
		if f.Job != "" {
			if l.Follow.Job, err = FindJob(ctx, s, f.Job); err != nil {
				return l, err
			}
			f.Job = l.Follow.Job.String()
		}
		if page.After != "" {
			id, err := FindTask(ctx, s, page.After)
			if err != nil {
				return l, err
			}
			page.After = id.String()
		}
		l.Page = page
		l.After = func(t view.Task) string { return command.Short(t.ID) }
		l.Read = func(ctx context.Context) ([]view.Task, command.Listing[view.Task], error) {
			return readTasks(ctx, s, f, page)
		}
		return l, nil
	})
	flags.register(c)
	command.PageFlags(c, &page, "id")
	return c
}

// TaskListing shows tasks; who serves them makes the note of one that may start
// and has nobody to do it.
func TaskListing(served *Served) command.Listing[view.Task] {
	return command.Listing[view.Task]{
		Name:  func(t view.Task) string { return t.ID.String() },
		Empty: []string{"There are no tasks yet.", served.example()},
		Columns: []command.Column[view.Task]{
			{Title: "ID", Value: func(o *command.Output, t view.Task) string { return o.ID(t.ID) }},
			{Title: "STATE", Value: func(_ *command.Output, t view.Task) string { return string(t.State) }, Paint: command.StateColor},
			{Title: "SERVICE", Value: func(_ *command.Output, t view.Task) string { return t.Service }},
			{Title: "KEY", Value: func(_ *command.Output, t view.Task) string { return t.Key }},
			{Title: "ATTEMPT", Value: func(_ *command.Output, t view.Task) string {
				return fmt.Sprintf("%d/%d", t.Attempt, max(t.MaxAttempts, t.Attempt))
			}},
			{Title: "PRIORITY", Wide: true, Value: func(_ *command.Output, t view.Task) string { return fmt.Sprint(t.Priority) }},
			{Title: "JOB", Wide: true, Value: func(_ *command.Output, t view.Task) string { return command.IDText(t.Job) }},
			{Title: "LANE", Wide: true, Value: func(_ *command.Output, t view.Task) string { return t.Lane }},
			{Title: "POOL", Wide: true, Value: func(_ *command.Output, t view.Task) string { return t.Pool }},
			{Title: "WORKER", Wide: true, Value: func(_ *command.Output, t view.Task) string { return t.Worker }},
			{Title: "CREATED", Ages: true, Value: func(o *command.Output, t view.Task) string { return o.Ago(t.CreatedAt) }},
			{Title: "SINCE", Ages: true, Value: func(o *command.Output, t view.Task) string { return o.Ago(t.Since) }},
			{Title: "NOTE", Value: func(_ *command.Output, t view.Task) string { return served.note(t) }},
		},
	}
}

// taskNote is the one thing to know about a task where it stands.
func taskNote(t view.Task) string {
	switch {
	case t.Cause != "":
		return t.Cause
	case t.State == "pending" && t.Gate == "hold":
		return "held by " + t.Hold
	case t.State == "pending" && t.Gate == "pool":
		return "waits for pool " + t.Pool
	case t.State == "pending" && t.Gate == "lane":
		return "waits in lane " + t.Lane
	case t.State == "pending" && t.Gate == "plan":
		return "waits to be planned"
	case t.State == "pending" && t.Gate == "time" && t.Attempt > 0:
		text := fmt.Sprintf("attempt %d failed; it is tried again", t.Attempt)
		if wait := time.Until(t.RunAt); wait > 0 {
			text += " in " + command.Span(wait)
		}
		return text
	case t.State == "pending" && t.Gate == "needs" && len(t.Awaits) > 0:
		return "waits for its " + command.Plural(len(t.Awaits), "item", "items")
	case t.State == "pending" && t.Gate == "needs":
		return "waits for what it needs"
	case t.State == "pending":
		return "waits for its time"
	case t.State == "running" && !t.CancelAt.IsZero():
		return "asked to stop"
	case t.State == "running" && t.Percent != nil:
		return fmt.Sprintf("%.0f%%", *t.Percent)
	}
	return ""
}

// TaskIDs are those of tasks.
var TaskIDs = command.Listed(work.ListTasks, func(t view.Task) (string, string) {
	about := t.Service
	if t.Key != "" {
		about = t.Key + ", " + about
	}
	return command.Short(t.ID), string(t.State) + ": " + about
})
