package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
)

func (e *env) task() *cobra.Command {
	return e.noun("task", "List, explain and command tasks", []string{"tasks"},
		e.taskList(), e.taskShow(), e.taskWhy("why ID"), e.taskLog(), e.taskSubmit(), e.taskWatch(), e.taskCancel(), e.taskRetry(), e.taskSkip(), e.taskHold(), e.taskRelease(), e.taskPriority())
}

func (e *env) taskList() *cobra.Command {
	var flags taskFilterFlags
	var page view.Page
	c := &cobra.Command{
		Short:   "List tasks, newest first",
		Example: "  weir task list --state failed\n  weir task list --gate pool --pool gpu\n  weir task list --state running --watch\n  weir task list --since 2h --service render",
	}
	listCommand(e, c, func(ctx context.Context, s *app.Session, _ []string) (l list[view.Task], err error) {
		f, err := flags.read(e.output().now)
		if err != nil {
			return l, err
		}
		if f.Job != "" {
			if l.follow.Job, err = findJob(ctx, s, f.Job); err != nil {
				return l, err
			}
			f.Job = l.follow.Job.String()
		}
		if page.After != "" {
			id, err := findTask(ctx, s, page.After)
			if err != nil {
				return l, err
			}
			page.After = id.String()
		}
		l.page = page
		l.after = func(t view.Task) string { return short(t.ID) }
		l.read = func(ctx context.Context) ([]view.Task, listing[view.Task], error) {
			return readTasks(ctx, s, f, page)
		}
		return l, nil
	})
	flags.register(c)
	pageFlags(c, &page, "id")
	return c
}

// taskListing shows tasks; who serves them makes the note of one that may start
// and has nobody to do it.
func taskListing(served *served) listing[view.Task] {
	return listing[view.Task]{
		name:  func(t view.Task) string { return t.ID.String() },
		empty: []string{"There are no tasks yet.", served.example()},
		columns: []column[view.Task]{
			{title: "ID", narrow: true, value: func(_ *output, t view.Task) string { return short(t.ID) }},
			{title: "ID", wide: true, value: func(_ *output, t view.Task) string { return t.ID.String() }},
			{title: "STATE", value: func(_ *output, t view.Task) string { return string(t.State) }, paint: stateColor},
			{title: "SERVICE", value: func(_ *output, t view.Task) string { return t.Service }},
			{title: "KEY", value: func(_ *output, t view.Task) string { return t.Key }},
			{title: "ATTEMPT", value: func(_ *output, t view.Task) string {
				return fmt.Sprintf("%d/%d", t.Attempt, max(t.MaxAttempts, t.Attempt))
			}},
			{title: "PRIORITY", wide: true, value: func(_ *output, t view.Task) string { return fmt.Sprint(t.Priority) }},
			{title: "JOB", wide: true, value: func(_ *output, t view.Task) string {
				if t.Job.IsZero() {
					return ""
				}
				return t.Job.String()
			}},
			{title: "LANE", wide: true, value: func(_ *output, t view.Task) string { return t.Lane }},
			{title: "POOL", wide: true, value: func(_ *output, t view.Task) string { return t.Pool }},
			{title: "WORKER", wide: true, value: func(_ *output, t view.Task) string { return t.Worker }},
			{title: "CREATED", ages: true, value: func(o *output, t view.Task) string { return o.ago(t.CreatedAt) }},
			{title: "SINCE", ages: true, value: func(o *output, t view.Task) string { return o.ago(t.Since) }},
			{title: "NOTE", value: func(_ *output, t view.Task) string { return served.note(t) }},
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
			text += " in " + span(wait)
		}
		return text
	case t.State == "pending" && t.Gate == "needs" && len(t.Awaits) > 0:
		return "waits for its " + plural(len(t.Awaits), "item", "items")
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
