package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/workflow"
)

// started is what programs read about a job that was started.
type started struct {
	ID       weir.ID `json:"id"`
	Workflow string  `json:"workflow"`
	Version  int     `json:"version,omitempty"`
}

// runFlags say how a workflow is run.
type runFlags struct {
	optionFlags
	request    workflow.Running
	priority   int
	at         string
	watch, log bool
}

func (e *env) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use: "run NAME|FILE", Short: "Run a workflow: a stored one, or that of a file", Args: e.args("NAME or FILE"),
		Long: `Run a workflow: make a job of it.

An argument with a slash, or that ends in .yaml, .yml or .json, is a file; - is
standard input. A file is applied first, as by weir workflow apply.

With --watch the exit code is 0 when the job is done, 1 when it failed, 2 when it
was canceled. With --log it also prints what the steps print.`,
		Example: "  weir run hello.yaml --watch\n  weir run media --param source=s3://raw/1 --param width=1280\n  weir run media --at +5m --priority 10\n  weir run media --params-file params.yaml --log",
	}
	c.RunE = e.session(func(ctx context.Context, s *app.Session, args []string) error {
		return e.runWorkflow(ctx, c, s, &f, args[0])
	})
	f.registerAll(c)
	flags := c.Flags()
	flags.StringVar(&f.at, "at", "", "not before this `time`: 2026-01-31T08:00:00Z, or +5m from now")
	flags.IntVar(&f.priority, "priority", 0, "-100 to 100; higher goes first; default: the workflow's")
	flags.IntVar(&f.request.Body.Version, "version", 0, "this version of a stored workflow; default: the newest active one")
	flags.StringVar(&f.request.IdempotencyKey, "idempotency-key", "", "the same key gives the same job")
	flags.BoolVarP(&f.watch, "watch", "w", false, "watch it until it has ended; the exit code is how it ended")
	flags.BoolVar(&f.log, "log", false, "watch it, and print what the steps print")
	settingFlags(c, false, "bucket")
	return c
}

func (e *env) runWorkflow(ctx context.Context, c *cobra.Command, s *app.Session, f *runFlags, what string) (err error) {
	o, in := e.output(), f.request
	r := &in.Body
	o.lines = f.watch || f.log
	in.Workflow = what
	if r.Options, err = f.read(e.In); err != nil {
		return err
	}
	if f.at != "" {
		if r.At, err = readTime(strings.TrimPrefix(f.at, "+"), o.now); err != nil {
			return invalid("", "--at: %s", err)
		}
	}
	if c.Flags().Changed("priority") {
		r.Priority = &f.priority
	}
	if isFile(what) {
		if r.Version != 0 {
			return invalid("leave --version out, or give a name instead of a file", "a file has one version")
		}
		if in.Workflow, r.Version, err = e.applyToRun(ctx, s, o, what); err != nil {
			return err
		}
	}
	f.fit(r.Options, f.stored(ctx, s, in.Workflow, r.Version))
	made, err := workflow.Run.Call(ctx, s.Operations, &in)
	if err != nil {
		return err
	}
	id, due := made.ID, ""
	if r.At.After(o.now) {
		due = ", due " + o.both(r.At)
	}
	if err := o.did(id.String(), started{id, in.Workflow, r.Version}, "Job %s of workflow %s%s.", id, clean(in.Workflow), due); err != nil {
		return err
	}
	return follows(ctx, o, s, id, f.watch, f.log)
}

// applyToRun stores the workflow of a file and says which one it is.
func (e *env) applyToRun(ctx context.Context, s *app.Session, o *output, path string) (name string, version int, err error) {
	file, err := e.usable(path)
	if err != nil {
		return "", 0, err
	}
	w, err := file.put(ctx, s, false)
	if err != nil {
		return "", 0, err
	}
	if o.table() && w.Created {
		o.say("%s", appliedText(w))
	}
	return w.Name, w.Version, nil
}

// follows watches a job that was just made, or says how to.
func follows(ctx context.Context, o *output, s *app.Session, id weir.ID, watch, log bool) error {
	if watch || log {
		o.now = time.Now()
		return watchJob(ctx, o, s, id, log)
	}
	if o.table() {
		o.say("Watch it with: weir job watch %s", short(id))
	}
	return nil
}
