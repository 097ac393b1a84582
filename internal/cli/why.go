package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/work"
)

func (e *env) whyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "why ID", Short: "Say why a task, a job, a rollout, a fleet job or a workspace is where it is: by whom, since when", Args: e.args("ID"),
		Example: "  weir why 8057b302099a\n  weir why JOB/STEP\n  weir why orders-2026-11",
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			task, missing := findTask(ctx, s, args[0])
			if missing == nil {
				_, missing = showTask(ctx, s, task) // a whole id is taken for what it says
			}
			if missing == nil {
				return e.printTaskWhy(ctx, s, task)
			}
			if r, err := rollout.Show.Call(ctx, s.Operations, &rollout.Named{Rollout: args[0]}); err == nil {
				return e.printRolloutWhy(r)
			}
			if why, err := whyFleet(ctx, s, args[0], 0); err == nil {
				return e.printFleetWhy(why)
			}
			if w, err := workspaceOf(ctx, s, args[0]); err == nil {
				return e.printWorkspaceWhy(ctx, s, w)
			}
			job, err := findJob(ctx, s, args[0])
			if err == nil {
				_, err = showJob(ctx, s, job)
			}
			if err != nil {
				return missing
			}
			return e.printJobWhy(ctx, s, job)
		}),
	}
}

func (e *env) taskWhy(use string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: "Say why a task is where it is: gate by gate, by whom, since when", Args: e.args("ID"),
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			id, err := findTask(ctx, s, args[0])
			if err != nil {
				return err
			}
			return e.printTaskWhy(ctx, s, id)
		}),
	}
}

func (e *env) printTaskWhy(ctx context.Context, s *app.Session, id weir.ID) error {
	reasons, err := readWhy(ctx, s, id)
	if err != nil {
		return err
	}
	o := e.output()
	if !o.table() {
		return printReasons(o, reasons)
	}
	task, err := showTask(ctx, s, id)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "Task %s (%s) is %s since %s.\n", short(id), clean(task.Service), o.state(task.State), o.both(task.Since))
	if len(reasons) == 0 {
		fmt.Fprintln(o.Out, "  It stands at no gate.")
	}
	printWhy(o, reasons)
	return nil
}

func (e *env) printJobWhy(ctx context.Context, s *app.Session, id weir.ID) error {
	found, err := work.WhyJob.Call(ctx, s.Operations, &work.NamedJob{Job: id.String()})
	if err != nil {
		return err
	}
	o, reasons := e.output(), found.Items
	if !o.table() {
		return printReasons(o, reasons)
	}
	job, err := showJob(ctx, s, id)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "Job %s (%s) is %s since %s.\n", short(id), clean(job.Name), o.paint(stateColor(job.State), job.State), o.both(job.CreatedAt))
	if len(reasons) == 0 {
		fmt.Fprintln(o.Out, "  It waits for nothing.")
	}
	printWhy(o, reasons)
	return nil
}

// printReasons prints reasons for programs: all of them, or the closed gates.
func printReasons(o *output, reasons []work.Reason) error {
	if o.data() {
		return o.value(reasons)
	}
	for _, r := range reasons {
		if !r.Open {
			fmt.Fprintln(o.Out, r.Gate)
		}
	}
	return nil
}

func readWhy(ctx context.Context, s *app.Session, id weir.ID) ([]work.Reason, error) {
	found, err := work.WhyTask.Call(ctx, s.Operations, &work.NamedTask{Task: id.String()})
	return found.Items, err
}

// printWhy writes one line per gate: open or closed, the reason, who stands in
// the way and since when.
func printWhy(o *output, reasons []work.Reason) {
	for _, r := range reasons {
		word, color := "closed", yellow
		if r.Open {
			word, color = "open", green
		}
		var more []string
		if !r.Blocker.IsZero() {
			more = append(more, "behind task "+short(r.Blocker))
		}
		if !r.Since.IsZero() {
			more = append(more, "since "+o.both(r.Since))
		}
		tail := ""
		if len(more) > 0 {
			tail = " · " + strings.Join(more, ", ")
		}
		fmt.Fprintf(o.Out, "  %-9s  %s  %s%s\n", r.Gate, o.paint(color, fmt.Sprintf("%-6s", word)), clean(r.Text), o.paint(dim, tail))
	}
}
