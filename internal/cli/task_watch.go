package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
)

// eventsShown is how many of its last events stand below a task that is watched.
const eventsShown = 5

func (e *env) taskWatch() *cobra.Command {
	return e.watches(&cobra.Command{
		Short: "Watch a task until it has ended; the exit code is how it ended",
		Long: `Watch a task until it has ended.

On a terminal it draws the task with its progress, and why it waits. Elsewhere
it prints a line for each event, from the task's beginning.

The exit code is 0 when the task is done or skipped, 1 when it failed, 2 when it
was canceled.`,
	}, findTask, watchTask)
}

// watchTask shows a task until it has ended, and returns how it ended.
func watchTask(ctx context.Context, o *output, s *app.Session, id weir.ID) error {
	page, err := watched[taskPage]{
		follow: weir.Filter{Task: id},
		read:   func(ctx context.Context) (taskPage, error) { return readTask(ctx, s, id) },
		lines:  showTaskLines(o),
		draw:   func(p taskPage, _ int) []string { return drawTask(o, p) },
		over:   func(p taskPage) bool { return p.State.Ended() },
		left:   "Stopped watching; the task goes on. Watch it with: weir task watch " + short(id),
	}.watch(ctx, o, s)
	if err != nil {
		return err
	}
	return taskEnd(o, page.Task)
}

// readTask reads everything about a task. Its events are read after its state,
// so that the one that ended it is among them.
func readTask(ctx context.Context, s *app.Session, id weir.ID) (page taskPage, err error) {
	if page.Task, err = showTask(ctx, s, id); err != nil {
		return page, err
	}
	if page.Why, err = readWhy(ctx, s, id); err != nil {
		return page, err
	}
	page.Events, err = taskEvents(ctx, s, id)
	return page, err
}

// taskEnd says how a task ended, with the exit code.
func taskEnd(o *output, t view.Task) error {
	if o.table() {
		fmt.Fprintf(o.Out, "Task %s is %s after %s.\n", short(t.ID), o.state(t.State), span(t.FinishedAt.Sub(t.CreatedAt)))
		if t.Cause != "" {
			fmt.Fprintf(o.Out, "Cause: %s\n", clean(t.Cause))
		}
		if result := pretty(t.Result); result != "" && t.State == "done" {
			fmt.Fprintf(o.Out, "Result: %s\n", cleanLines(result))
		}
	}
	return ended(string(t.State))
}

// showTaskLines prints the events that were not there before.
func showTaskLines(o *output) func(taskPage) error {
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
func drawTask(o *output, page taskPage) []string {
	t := page.Task
	head := fmt.Sprintf("%s %s  %s  ", marks[string(t.State)], cut(clean(taskName(t)), 40), t.State)
	line := o.paint(stateColor(string(t.State)), head) + cut(taskProgress(o, t), max(o.width-cells(head)-1, 8))
	lines := []string{line}
	if t.State == "pending" || t.State == "available" {
		for _, r := range page.Why {
			if !r.Open {
				lines = append(lines, cut("  "+r.Gate+": "+clean(r.Text), o.width-1))
			}
		}
	}
	for _, event := range page.Events[max(0, len(page.Events)-eventsShown):] {
		plain := *o
		plain.color = false
		lines = append(lines, o.paint(dim, cut("  "+strings.TrimRight(eventLine(&plain, event, false), " "), o.width-1)))
	}
	return lines
}
