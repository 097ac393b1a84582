package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
)

// maxAttempts is how often a task may run at most.
const maxAttempts = 10_000

// taskFlags are the fields of a task as flags.
type taskFlags struct {
	task                         weir.Task
	params, runAt, orphan        string
	timeout, backoff, backoffCap string
	rank                         int64
}

// register offers what any task may have; submission adds what only one may.
func (f *taskFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.params, "params", "", "params as `JSON`; @FILE reads a file, - standard input")
	flags.IntVar(&f.task.Priority, "priority", 0, "-100 to 100; higher goes first")
	flags.StringVar(&f.task.Hold, "hold", "", "keep it until it is released; say by `whom`")
	flags.StringVar(&f.task.Lane, "lane", "", "lane whose tasks mind each other")
	flags.Int64Var(&f.rank, "rank", 0, "place in the lane")
	flags.BoolVar(&f.task.Exclusive, "exclusive", false, "keep everything else of the lane out")
	flags.StringVar(&f.task.Pool, "pool", "", "pool that limits it")
	flags.StringToStringVar(&f.task.Labels, "label", nil, "label that the worker must have: `KEY=VALUE`; may be repeated")
	flags.IntVar(&f.task.MaxAttempts, "max-attempts", 0, "how often it may run, 1 to 10000; default: 3")
	flags.StringVar(&f.timeout, "timeout", "", "longest time of an attempt, such as 30s")
	flags.StringVar(&f.backoff, "backoff", "", "longest wait before the second attempt")
	flags.StringVar(&f.backoffCap, "backoff-cap", "", "longest wait before any attempt")
	flags.StringVar(&f.orphan, "orphan", "", "when its worker is lost: requeue or stop")
	flags.StringVar(&f.task.UniqueKey, "unique-key", "", "at most one live task of the service with this key")
}

// read makes the task. now is what durations are counted from.
func (f *taskFlags) read(c *cobra.Command, in io.Reader, service string, now time.Time) (weir.Task, error) {
	t := f.task
	t.Service, t.Orphan = service, weir.Orphan(f.orphan)
	if c.Flags().Changed("rank") {
		t.Rank = weir.Rank(f.rank)
	}
	if c.Flags().Changed("max-attempts") && (t.MaxAttempts < 1 || t.MaxAttempts > maxAttempts) {
		return t, invalid("", "--max-attempts: %d is outside 1 .. %d", t.MaxAttempts, maxAttempts)
	}
	params, err := readJSON(f.params, in)
	if err != nil {
		return t, err
	}
	if params != nil {
		t.Params = params
	}
	for _, d := range []struct {
		flag, text string
		into       *time.Duration
	}{{"timeout", f.timeout, &t.Timeout}, {"backoff", f.backoff, &t.Backoff}, {"backoff-cap", f.backoffCap, &t.BackoffCap}} {
		if d.text == "" {
			continue
		}
		if *d.into, err = app.ParseDuration(d.text); err != nil {
			return t, invalid("", "--%s: %s", d.flag, err)
		}
	}
	if f.runAt != "" {
		if t.RunAt, err = readTime(f.runAt, now); err != nil {
			return t, invalid("", "--run-at: %s", err)
		}
	}
	return t, nil
}

// readTime reads an RFC 3339 time or a duration from now.
func readTime(s string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	d, err := app.ParseDuration(s)
	if err != nil || d == app.Forever {
		return time.Time{}, fmt.Errorf("%q is neither a time such as 2026-01-31T08:00:00Z nor a duration such as 10m", s)
	}
	return now.Add(d), nil
}

// readJSON reads JSON from the text itself, from @FILE, or from standard input.
func readJSON(text string, in io.Reader) (json.RawMessage, error) {
	var data []byte
	var err error
	switch {
	case text == "":
		return nil, nil
	case text == "-":
		data, err = io.ReadAll(in)
	case strings.HasPrefix(text, "@"):
		data, err = os.ReadFile(text[1:])
	default:
		data = []byte(text)
	}
	if err != nil {
		return nil, invalid("", "params: %s", err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, invalid(`quote it for the shell: --params '{"name": "you"}'`, "params are not JSON: %s", err)
	}
	return data, nil
}

// single leaves out which task it was, where there is only one.
func single(err error) error {
	p := problem.Explain(err)
	p.What = strings.TrimPrefix(p.What, "task 1: ")
	return p
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
		task, err := f.read(c, e.In, args[0], o.now)
		if err != nil {
			return err
		}
		spec, err := work.SpecOf(task)
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
	c.Flags().StringVar(&f.task.IdempotencyKey, "idempotency-key", "", "the same key gives the same task")
	return c
}
