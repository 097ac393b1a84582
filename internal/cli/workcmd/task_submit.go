package workcmd

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/work"
)

// TaskFlags are a task as flags.
type TaskFlags struct {
	in            work.Submitting
	Params, runAt string
}

// SpecFields are the flags that any task may have, beside its params and labels. What is
// about the tasks of a job, or about one submission, is not among them.
var SpecFields = slices.DeleteFunc(op.Fields(&work.Submitting{}), func(f op.Field) bool {
	own := []string{"service", "params", "key", "needs", "rule", "labels", "run_at", "idempotency_key", "trace", "run"}
	return f.Place != op.Body || slices.Contains(own, f.Name)
})

// Register offers what any task may have; submission adds what only one may.
func (f *TaskFlags) Register(c *cobra.Command) {
	c.Flags().StringVar(&f.Params, "params", "", "params as `JSON`; @FILE reads a file, - standard input")
	c.Flags().StringToStringVar(&f.in.Body.Labels, "label", nil, "label that the worker must have: `KEY=VALUE`; may be repeated")
	for _, field := range SpecFields {
		command.AddFlag(c, field)
	}
}

// Read makes the task. now is what durations are counted from.
func (f *TaskFlags) Read(c *cobra.Command, in io.Reader, service string, now time.Time) (t work.TaskSpec, err error) {
	for _, field := range SpecFields {
		if err := command.Fill(c, &f.in, field); err != nil {
			return t, err
		}
	}
	t = f.in.Body
	t.Service = service
	if t.Params, err = command.ReadJSON(f.Params, in); err != nil {
		return t, err
	}
	if f.runAt != "" {
		if t.RunAt, err = command.ReadTime(f.runAt, now); err != nil {
			return t, command.Invalid("", "--run-at: %s", err)
		}
	}
	return t, nil
}

func taskSubmit(e *command.Env) *cobra.Command {
	var f TaskFlags
	var watch bool
	c := &cobra.Command{
		Use: "submit SERVICE", Short: "Submit a task", Args: e.Args("SERVICE"),
		Example: "  weir task submit hello --params '{\"name\": \"you\"}'\n  weir task submit report --run-at 10m --pool gpu --max-attempts 5",
	}
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, args []string) error {
		o := e.Output()
		spec, err := f.Read(c, e.In, args[0], o.Now)
		if err != nil {
			return err
		}
		receipt, err := work.SubmitTask.Call(ctx, s.Operations, &work.Submitting{Keyed: op.Keyed{IdempotencyKey: spec.IdempotencyKey}, Body: spec})
		if err != nil {
			return err
		}
		verb := "Submitted"
		if receipt.Existed {
			verb = "There already was"
		}
		if !watch {
			return o.Did(receipt.ID.String(), receipt, "%s task %s.\nLook at it with: weir task show %s", verb, receipt.ID, command.Short(receipt.ID))
		}
		if err := o.Did(receipt.ID.String(), receipt, "%s task %s.", verb, receipt.ID); err != nil {
			return err
		}
		return watchTask(ctx, o, s, receipt.ID)
	})
	f.Register(c)
	c.Flags().StringVar(&f.runAt, "run-at", "", "not before this `time`: 2026-01-31T08:00:00Z, or a duration from now")
	c.Flags().BoolVar(&watch, "watch", false, "watch it until it has ended; the exit code is how it ended")
	c.Flags().StringVar(&f.in.Body.IdempotencyKey, "idempotency-key", "", "the same key gives the same task")
	return c
}
