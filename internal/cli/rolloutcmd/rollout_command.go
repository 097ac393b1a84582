package rolloutcmd

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
)

// onRollout is a command on a rollout or a task of one. what is what it is done to.
func onRollout[In any](e *command.Env, o *op.Op[*rollout.Store, In, rollout.Commanded], what, short, example string) *cobra.Command {
	c := &cobra.Command{Short: short, Example: example}
	if what == "Task" {
		c.Long = cmp.Or(short, o.Summary) + "." + runHelp
	}
	return command.Operation(e, o, c, func(_ context.Context, _ *app.Session, _ *In, did rollout.Commanded) error {
		return commanded(e, what, did)
	})
}

// commanded tells what a command did.
func commanded(e *command.Env, what string, did rollout.Commanded) error {
	return e.Output().Did(did.ID.String(), did, "%s %s: %s.", what, command.Short(did.ID), command.Clean(did.Text))
}

func rolloutRun(e *command.Env) *cobra.Command {
	var watch bool
	c := &cobra.Command{Aliases: []string{"start"}, Short: "Start a rollout: its first stage begins", Example: "  weir rollout run 8057b302099a --watch"}
	command.Operation(e, rollout.Start, c, func(ctx context.Context, s *app.Session, _ *rollout.Named, did rollout.Commanded) error {
		return started(ctx, e, s, did, watch)
	})
	c.Use = "run ID"
	c.Flags().BoolVarP(&watch, "watch", "w", false, "watch it until it has ended")
	return c
}

// started tells that a rollout has begun, and follows it if that is wanted.
func started(ctx context.Context, e *command.Env, s *app.Session, did rollout.Commanded, watch bool) error {
	o := e.Output()
	if watch && !o.Table() {
		return watchRollout(ctx, o, s, did.ID)
	}
	if err := commanded(e, "Rollout", did); err != nil || !watch {
		return err
	}
	return watchRollout(ctx, o, s, did.ID)
}

// approved is what an approval did, and what it was given in the face of.
type approved struct {
	rollout.Commanded
	Warnings []rollout.PlanWarning `json:"warnings,omitempty"`
}

func rolloutApprove(e *command.Env) *cobra.Command {
	c := &cobra.Command{Example: "  weir rollout approve 8057b302099a prod --note 'looked at the locks'"}
	return command.Operation(e, rollout.Approve, c, func(ctx context.Context, s *app.Session, _ *rollout.Consent, did rollout.Commanded) error {
		r, err := rollout.Show.Call(ctx, s.Operations, &rollout.Named{Rollout: did.ID.String()})
		if err != nil {
			return err
		}
		o := e.Output()
		if o.Table() && len(r.Warnings) > 0 {
			o.Say("What the plan was warned of:")
			printWarnings(o, o.Err, plainWarnings(r.Warnings), "  ", map[string]bool{})
		}
		return o.Did(did.ID.String(), approved{did, r.Warnings}, "Rollout %s: %s.", command.Short(did.ID), command.Clean(did.Text))
	})
}

const runHelp = "\n\nTASK is the id of a task or its end, or ROLLOUT/STAGE/DATABASE/VERSION:\n  weir rollout show ID lists them."

func rolloutRetry(e *command.Env) *cobra.Command {
	var failed bool
	var stage string
	c := onRollout(e, rollout.Retry, "Task", "Run a task again that failed or was canceled, or all that failed",
		"  weir rollout retry 8057b302099a\n  weir rollout retry orders-2026-11/prod/orders-eu/7\n  weir rollout retry orders-2026-11 --failed --stage prod")
	c.Long += "\n\nWith --failed it is the ID of a rollout: all of its tasks that are FAILED run again."
	one := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if !failed && stage != "" {
			return command.Invalid("give --failed, too", "--stage goes with --failed alone")
		}
		if !failed {
			return one(cmd, args)
		}
		return e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			return retryFailed(ctx, e, s, args[0], stage)
		})(cmd, args)
	}
	c.Flags().BoolVar(&failed, "failed", false, "all tasks of a rollout that are FAILED")
	c.Flags().StringVar(&stage, "stage", "", "with --failed: only those of this stage")
	return c
}

// retryFailed runs all failed tasks of a rollout again, and answers for each. One that
// is refused keeps the others from nothing.
func retryFailed(ctx context.Context, e *command.Env, s *app.Session, text, stage string) error {
	id, err := findRollout(ctx, s, text)
	if err != nil {
		return err
	}
	tasks, err := op.Each(ctx, s.Operations, rollout.ListTasks,
		rollout.ListingTasks{Named: rollout.Named{Rollout: id.String()}, TaskFilter: rollout.TaskFilter{Status: rollout.Failed, Stage: stage}})
	if err != nil {
		return err
	}
	o := e.Output()
	if len(tasks) == 0 {
		o.Say("Rollout %s has no task that is FAILED.", command.Short(id))
	}
	var refused error
	for _, t := range tasks {
		did, err := rollout.Retry.Call(ctx, s.Operations, &rollout.NamedTask{Rollout: id.String(), Task: t.ID.String()})
		switch {
		case err != nil:
			refused = err
			o.Say("%s: %s", command.Clean(t.Key), command.Clean(problem.Explain(err).What))
		case o.Table():
			fmt.Fprintf(o.Out, "%s: %s.\n", command.Clean(t.Key), command.Clean(did.Text))
		default:
			if err := command.PrintEach(o, []rollout.Commanded{did}, func(c rollout.Commanded) string { return c.ID.String() }); err != nil {
				return err
			}
		}
	}
	return refused
}
