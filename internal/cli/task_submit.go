package cli

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/work"
)

// taskFlags are a task as flags.
type taskFlags struct {
	in            work.Submitting
	params, runAt string
}

// specFields are the flags that any task may have, beside its params and labels. What is
// about the tasks of a job, or about one submission, is not among them.
var specFields = slices.DeleteFunc(op.Fields(&work.Submitting{}), func(f op.Field) bool {
	own := []string{"service", "params", "key", "needs", "rule", "labels", "run_at", "idempotency_key", "trace", "run"}
	return f.Place != op.Body || slices.Contains(own, f.Name)
})

// register offers what any task may have; submission adds what only one may.
func (f *taskFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.params, "params", "", "params as `JSON`; @FILE reads a file, - standard input")
	c.Flags().StringToStringVar(&f.in.Body.Labels, "label", nil, "label that the worker must have: `KEY=VALUE`; may be repeated")
	for _, field := range specFields {
		addFlag(c, field)
	}
}

// read makes the task. now is what durations are counted from.
func (f *taskFlags) read(c *cobra.Command, in io.Reader, service string, now time.Time) (t work.TaskSpec, err error) {
	for _, field := range specFields {
		if err := fill(c, &f.in, field); err != nil {
			return t, err
		}
	}
	t = f.in.Body
	t.Service = service
	if t.Params, err = readJSON(f.params, in); err != nil {
		return t, err
	}
	if f.runAt != "" {
		if t.RunAt, err = readTime(f.runAt, now); err != nil {
			return t, invalid("", "--run-at: %s", err)
		}
	}
	return t, nil
}

func (e *env) taskSubmit() *cobra.Command {
	var f taskFlags
	var watch bool
	c := &cobra.Command{
		Use: "submit SERVICE", Short: "Submit a task", Args: e.args("SERVICE"),
		Example: "  weir task submit hello --params '{\"name\": \"you\"}'\n  weir task submit report --run-at 10m --pool gpu --max-attempts 5",
	}
	c.RunE = e.session(func(ctx context.Context, s *app.Session, args []string) error {
		o := e.output()
		spec, err := f.read(c, e.In, args[0], o.now)
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
			return o.did(receipt.ID.String(), receipt, "%s task %s.\nLook at it with: weir task show %s", verb, receipt.ID, short(receipt.ID))
		}
		if err := o.did(receipt.ID.String(), receipt, "%s task %s.", verb, receipt.ID); err != nil {
			return err
		}
		return watchTask(ctx, o, s, receipt.ID)
	})
	f.register(c)
	c.Flags().StringVar(&f.runAt, "run-at", "", "not before this `time`: 2026-01-31T08:00:00Z, or a duration from now")
	c.Flags().BoolVar(&watch, "watch", false, "watch it until it has ended; the exit code is how it ended")
	c.Flags().StringVar(&f.in.Body.IdempotencyKey, "idempotency-key", "", "the same key gives the same task")
	return c
}
