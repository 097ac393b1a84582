package workcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/view"
)

// eventsShown is how many of its last events stand below a task that is watched.
const eventsShown = 5

func taskWatch(e *command.Env) *cobra.Command {
	return command.On(e, &cobra.Command{
		Use: "watch ID", Short: "Watch a task until it has ended; the exit code is how it ended",
		Long: `Watch a task until it has ended.

On a terminal it draws the task with its progress, and why it waits. Elsewhere
it prints a line for each event, from the task's beginning.

The exit code is 0 when the task is done or skipped, 1 when it failed, 2 when it
was canceled.`,
	}, FindTask, watchTask)
}

// watchTask shows a task until it has ended, and returns how it ended.
func watchTask(ctx context.Context, o *command.Output, s *app.Session, id weir.ID) error {
	page, err := command.Watched[taskPage]{
		Follow: weir.Filter{Task: id},
		Read:   func(ctx context.Context) (taskPage, error) { return readTask(ctx, s, id) },
		Lines:  showTaskLines(o),
		Draw:   func(p taskPage, _ int) []string { return drawTask(o, p) },
		Over:   func(p taskPage) bool { return p.State.Ended() },
		Left:   "Stopped watching; the task goes on. Watch it with: weir task watch " + command.Short(id),
	}.Watch(ctx, o, s)
	if err != nil {
		return err
	}
	return taskEnd(o, page.Task)
}

// readTask reads everything about a task. Its events are read after its state,
// so that the one that ended it is among them.
func readTask(ctx context.Context, s *app.Session, id weir.ID) (page taskPage, err error) {
	if page.Task, err = ShowTask(ctx, s, id); err != nil {
		return page, err
	}
	if page.Why, err = readWhy(ctx, s, id); err != nil {
		return page, err
	}
	page.Events, err = taskEvents(ctx, s, id)
	return page, err
}

// taskEnd says how a task ended, with the exit code.
func taskEnd(o *command.Output, t view.Task) error {
	if o.Table() {
		fmt.Fprintf(o.Out, "Task %s is %s after %s.\n", command.Short(t.ID), o.State(t.State), command.Span(t.FinishedAt.Sub(t.CreatedAt)))
		if t.Cause != "" {
			fmt.Fprintf(o.Out, "Cause: %s\n", command.Clean(t.Cause))
		}
		if result := command.Pretty(t.Result); result != "" && t.State == "done" {
			fmt.Fprintf(o.Out, "Result: %s\n", command.CleanLines(result))
		}
	}
	return command.Ended(string(t.State))
}

// showTaskLines prints the events that were not there before.
func showTaskLines(o *command.Output) func(taskPage) error {
	printed := int64(-1)
	return func(page taskPage) error {
		for _, event := range page.Events {
			if event.Seq <= printed {
				continue
			}
			printed = event.Seq
			if err := printEvent(o, event); err != nil {
				return err
			}
		}
		return nil
	}
}

// drawTask is a task as lines of at most the terminal's width: what it is with
// its progress, why it waits, what happened last.
func drawTask(o *command.Output, page taskPage) []string {
	t := page.Task
	head := fmt.Sprintf("%s %s  %s  ", marks[string(t.State)], command.Cut(command.Clean(taskName(t)), 40), t.State)
	line := o.Paint(command.StateColor(string(t.State)), head) + command.Cut(taskProgress(o, t), max(o.Width-command.Cells(head)-1, 8))
	lines := []string{line}
	if t.State == "pending" || t.State == "available" {
		for _, r := range page.Why {
			if !r.Open {
				lines = append(lines, command.Cut("  "+r.Gate+": "+command.Clean(r.Text), o.Width-1))
			}
		}
	}
	for _, event := range page.Events[max(0, len(page.Events)-eventsShown):] {
		plain := *o
		plain.Color = false
		lines = append(lines, o.Paint(command.Dim, command.Cut("  "+strings.TrimRight(eventLine(&plain, event, false), " "), o.Width-1)))
	}
	return lines
}
