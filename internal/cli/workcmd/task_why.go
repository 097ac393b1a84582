package workcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/work"
)

func taskWhy(e *command.Env) *cobra.Command {
	return command.On(e, &cobra.Command{Use: "why ID", Short: "Say why a task is where it is: gate by gate, by whom, since when"}, FindTask, PrintTaskWhy)
}

// PrintTaskWhy says why a task is where it is.
func PrintTaskWhy(ctx context.Context, o *command.Output, s *app.Session, id weir.ID) error {
	reasons, err := readWhy(ctx, s, id)
	if err != nil {
		return err
	}
	if !o.Table() {
		return PrintReasons(o, reasons)
	}
	task, err := ShowTask(ctx, s, id)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "Task %s (%s) is %s since %s.\n", command.Short(id), command.Clean(task.Service), o.State(task.State), o.Both(task.Since))
	if len(reasons) == 0 {
		fmt.Fprintln(o.Out, "  It stands at no gate.")
	}
	PrintWhy(o, reasons)
	return nil
}

// PrintJobWhy says what a job waits for.
func PrintJobWhy(ctx context.Context, o *command.Output, s *app.Session, id weir.ID) error {
	found, err := work.WhyJob.Call(ctx, s.Operations, &work.NamedJob{Job: id.String()})
	if err != nil {
		return err
	}
	reasons := found.Items
	if !o.Table() {
		return PrintReasons(o, reasons)
	}
	job, err := ShowJob(ctx, s, id)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "Job %s (%s) is %s since %s.\n", command.Short(id), command.Clean(job.Name), o.Paint(command.StateColor(job.State), job.State), o.Both(job.CreatedAt))
	if len(reasons) == 0 {
		fmt.Fprintln(o.Out, "  It waits for nothing.")
	}
	PrintWhy(o, reasons)
	return nil
}

func readWhy(ctx context.Context, s *app.Session, id weir.ID) ([]work.Reason, error) {
	found, err := work.WhyTask.Call(ctx, s.Operations, &work.NamedTask{Task: id.String()})
	return found.Items, err
}

// PrintWhy writes one line per gate: open or closed, the reason, who stands in
// the way and since when.
func PrintWhy(o *command.Output, reasons []work.Reason) {
	for _, r := range reasons {
		word, color := "closed", command.Yellow
		if r.Open {
			word, color = "open", command.Green
		}
		var more []string
		if !r.Blocker.IsZero() {
			more = append(more, "behind task "+command.Short(r.Blocker))
		}
		if !r.Since.IsZero() {
			more = append(more, "since "+o.Both(r.Since))
		}
		tail := ""
		if len(more) > 0 {
			tail = " · " + strings.Join(more, ", ")
		}
		fmt.Fprintf(o.Out, "  %-9s  %s  %s%s\n", r.Gate, o.Paint(color, fmt.Sprintf("%-6s", word)), command.Clean(r.Text), o.Paint(command.Dim, tail))
	}
}

// PrintReasons prints reasons for programs: all of them, or the closed gates.
func PrintReasons(o *command.Output, reasons []work.Reason) error {
	if o.Data() {
		return o.Value(reasons)
	}
	for _, r := range reasons {
		if !r.Open {
			fmt.Fprintln(o.Out, r.Gate)
		}
	}
	return nil
}
