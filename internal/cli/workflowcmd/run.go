package workflowcmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/cli/workcmd"
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

// Run is the command weir run.
func Run(e *command.Env) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use: "run NAME|FILE", Short: "Run a workflow: a stored one, or that of a file", Args: e.Args("NAME or FILE"),
		Long: `Run a workflow: make a job of it.

An argument with a slash, or that ends in .yaml, .yml or .json, is a file; - is
standard input. A file is applied first, as by weir workflow apply.

With --watch the exit code is 0 when the job is done, 1 when it failed, 2 when it
was canceled. With --log it also prints what the steps print.`,
		Example: "  weir run hello.yaml --watch\n  weir run media --param source=s3://raw/1 --param width=1280\n  weir run media --at +5m --priority 10\n  weir run media --params-file params.yaml --log",
	}
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, args []string) error {
		return runWorkflow(ctx, e, c, s, &f, args[0])
	})
	f.registerAll(c)
	flags := c.Flags()
	flags.StringVar(&f.at, "at", "", "not before this `time`: 2026-01-31T08:00:00Z, or +5m from now")
	flags.StringVar(&f.request.Body.Zone, "zone", "", "time zone of the job's dates; default: the workflow's, or UTC")
	flags.IntVar(&f.priority, "priority", 0, "-100 to 100; higher goes first; default: the workflow's")
	flags.IntVar(&f.request.Body.Version, "version", 0, "this version of a stored workflow; default: the newest active one")
	flags.StringVar(&f.request.IdempotencyKey, "idempotency-key", "", "the same key gives the same job")
	flags.BoolVarP(&f.watch, "watch", "w", false, "watch it until it has ended; the exit code is how it ended")
	flags.BoolVar(&f.log, "log", false, "watch it, and print what the steps print")
	command.SettingFlags(c, false, "bucket")
	return c
}

func runWorkflow(ctx context.Context, e *command.Env, c *cobra.Command, s *app.Session, f *runFlags, what string) (err error) {
	o, in := e.Output(), f.request
	r := &in.Body
	o.Lines = f.watch || f.log
	in.Workflow = what
	if r.Options, err = f.read(e.In); err != nil {
		return err
	}
	if f.at != "" {
		if r.At, err = command.ReadTime(strings.TrimPrefix(f.at, "+"), o.Now); err != nil {
			return command.Invalid("", "--at: %s", err)
		}
	}
	if c.Flags().Changed("priority") {
		r.Priority = &f.priority
	}
	if isFile(what) {
		if r.Version != 0 {
			return command.Invalid("leave --version out, or give a name instead of a file", "a file has one version")
		}
		if in.Workflow, r.Version, err = applyToRun(ctx, e, s, o, what); err != nil {
			return err
		}
	}
	f.fit(r.Options, f.stored(ctx, s, in.Workflow, r.Version))
	made, err := workflow.Run.Call(ctx, s.Operations, &in)
	if err != nil {
		return err
	}
	id, due := made.ID, ""
	if r.At.After(o.Now) {
		due = ", due " + o.Both(r.At)
	}
	if err := o.Did(id.String(), started{id, in.Workflow, r.Version}, "Job %s of workflow %s%s.", id, command.Clean(in.Workflow), due); err != nil {
		return err
	}
	return workcmd.Follows(ctx, o, s, id, f.watch, f.log)
}

// applyToRun stores the workflow of a file and says which one it is.
func applyToRun(ctx context.Context, e *command.Env, s *app.Session, o *command.Output, path string) (name string, version int, err error) {
	file, err := usable(e, path)
	if err != nil {
		return "", 0, err
	}
	w, err := file.put(ctx, s, false)
	if err != nil {
		return "", 0, err
	}
	if o.Table() && w.Created {
		o.Say("%s", appliedText(w))
	}
	return w.Name, w.Version, nil
}
