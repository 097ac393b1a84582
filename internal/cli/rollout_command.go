package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
)

// answered is what a command did, as programs read it.
type answered struct {
	ID weir.ID `json:"id"`
	rollout.Answer
}

// approved is what an approval did, and what it was given in the face of.
type approved struct {
	answered
	Warnings []rollout.PlanWarning `json:"warnings,omitempty"`
}

// answer tells what a command did to a rollout or a task of one.
func (e *env) answer(what string, id weir.ID, a rollout.Answer, err error) error {
	if err != nil {
		return err
	}
	return e.output().did(id.String(), answered{id, a}, "%s %s: %s.", what, short(id), clean(a.Text))
}

// onRollout is a command on a rollout.
func (e *env) onRollout(c *cobra.Command, do func(ctx context.Context, s *app.Session, id weir.ID, args []string) (rollout.Answer, error)) *cobra.Command {
	if c.Args == nil {
		c.Args = e.args("ID")
	}
	c.RunE = e.session(func(ctx context.Context, s *app.Session, args []string) error {
		id, err := findRollout(ctx, s, args[0])
		if err != nil {
			return err
		}
		a, err := do(ctx, s, id, args)
		return e.answer("Rollout", id, a, err)
	})
	return c
}

func (e *env) rolloutRun() *cobra.Command {
	var watch bool
	c := &cobra.Command{
		Use: "run ID", Aliases: []string{"start"}, Short: "Start a rollout: its first stage begins", Args: e.args("ID"),
		Example: "  weir rollout run 8057b302099a --watch",
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			id, err := findRollout(ctx, s, args[0])
			if err != nil {
				return err
			}
			return e.startRollout(ctx, s, id, watch)
		}),
	}
	c.Flags().BoolVarP(&watch, "watch", "w", false, "watch it until it has ended")
	return c
}

func (e *env) startRollout(ctx context.Context, s *app.Session, id weir.ID, watch bool) error {
	a, err := s.Rollouts.Start(ctx, whoami(), id)
	o := e.output()
	if err == nil && watch && !o.table() {
		return watchRollout(ctx, o, s, id)
	}
	if err := e.answer("Rollout", id, a, err); err != nil || !watch {
		return err
	}
	return watchRollout(ctx, o, s, id)
}

func (e *env) rolloutPause() *cobra.Command {
	var note string
	c := &cobra.Command{Use: "pause ID", Short: "Let nothing new start; what runs goes on", Example: "  weir rollout pause 8057b302099a --note 'the shop is busy'"}
	c.Flags().StringVar(&note, "note", "", "why; it is shown where tasks wait")
	return e.onRollout(c, func(ctx context.Context, s *app.Session, id weir.ID, _ []string) (rollout.Answer, error) {
		return s.Rollouts.Pause(ctx, whoami(), id, note)
	})
}

func (e *env) rolloutResume() *cobra.Command {
	return e.onRollout(&cobra.Command{Use: "resume ID", Short: "Let a paused rollout go on"}, func(ctx context.Context, s *app.Session, id weir.ID, _ []string) (rollout.Answer, error) {
		return s.Rollouts.Resume(ctx, whoami(), id)
	})
}

func (e *env) rolloutAbort() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "abort ID", Short: "Cancel what waits and ask what runs to stop; it cannot be taken back",
		Example: "  weir rollout abort 8057b302099a --reason 'the release was called off'",
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the timeline")
	return e.onRollout(c, func(ctx context.Context, s *app.Session, id weir.ID, _ []string) (rollout.Answer, error) {
		return s.Rollouts.Abort(ctx, whoami(), id, reason)
	})
}

func (e *env) rolloutPromote() *cobra.Command {
	c := &cobra.Command{Use: "promote ID STAGE", Short: "Let a stage begin that waits for a person", Args: e.args("ID", "STAGE")}
	return e.onRollout(c, func(ctx context.Context, s *app.Session, id weir.ID, args []string) (rollout.Answer, error) {
		return s.Rollouts.Promote(ctx, whoami(), id, args[1])
	})
}

func (e *env) rolloutApprove() *cobra.Command {
	var note string
	c := &cobra.Command{
		Use: "approve ID STAGE", Short: "Approve a stage of the plan as it is; one person counts once", Args: e.args("ID", "STAGE"),
		Example: "  weir rollout approve 8057b302099a prod --note 'looked at the locks'",
	}
	c.Flags().StringVar(&note, "note", "", "kept with the approval")
	c.RunE = e.session(func(ctx context.Context, s *app.Session, args []string) error {
		id, err := findRollout(ctx, s, args[0])
		if err != nil {
			return err
		}
		r, err := s.Rollouts.Rollout(ctx, id)
		if err != nil {
			return err
		}
		o := e.output()
		if o.table() && len(r.Warnings) > 0 {
			o.say("What the plan was warned of:")
			printWarnings(o, o.Err, plainWarnings(r.Warnings), "  ", map[string]bool{})
		}
		a, err := s.Rollouts.Approve(ctx, whoami(), id, args[1], note)
		if err != nil {
			return err
		}
		return o.did(id.String(), approved{answered{id, a}, r.Warnings}, "Rollout %s: %s.", short(id), clean(a.Text))
	})
	return c
}

func (e *env) rolloutRevoke() *cobra.Command {
	c := &cobra.Command{Use: "revoke ID STAGE", Short: "Take your own approval back, before the stage begins", Args: e.args("ID", "STAGE")}
	return e.onRollout(c, func(ctx context.Context, s *app.Session, id weir.ID, args []string) (rollout.Answer, error) {
		return s.Rollouts.Revoke(ctx, whoami(), id, args[1])
	})
}

const runHelp = "\n\nTASK is the id of a task or its end, or ROLLOUT/STAGE/DATABASE/VERSION:\n  weir rollout show ID lists them."

// onRun is a command on a task of a rollout.
func (e *env) onRun(c *cobra.Command, do func(ctx context.Context, s *app.Session, task weir.ID) (rollout.Answer, error)) *cobra.Command {
	c.Args, c.Long = e.args("TASK"), c.Short+"."+runHelp
	c.RunE = e.session(func(ctx context.Context, s *app.Session, args []string) error {
		task, err := findRun(ctx, s, args[0])
		if err != nil {
			return err
		}
		a, err := do(ctx, s, task)
		return e.answer("Task", task, a, err)
	})
	return c
}

func (e *env) rolloutRetry() *cobra.Command {
	var failed bool
	var stage string
	c := &cobra.Command{
		Use: "retry TASK", Short: "Run a task again that failed or was canceled, or all that failed",
		Example: "  weir rollout retry 8057b302099a\n  weir rollout retry orders-2026-11/prod/orders-eu/7\n  weir rollout retry orders-2026-11 --failed --stage prod",
	}
	e.onRun(c, func(ctx context.Context, s *app.Session, task weir.ID) (rollout.Answer, error) {
		return s.Rollouts.Retry(ctx, whoami(), task)
	})
	c.Long += "\n\nWith --failed it is the ID of a rollout: all of its tasks that are FAILED run again."
	one := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if !failed && stage != "" {
			return invalid("give --failed, too", "--stage goes with --failed alone")
		}
		if !failed {
			return one(cmd, args)
		}
		return e.session(func(ctx context.Context, s *app.Session, args []string) error {
			return e.retryFailed(ctx, s, args[0], stage)
		})(cmd, args)
	}
	c.Flags().BoolVar(&failed, "failed", false, "all tasks of a rollout that are FAILED")
	c.Flags().StringVar(&stage, "stage", "", "with --failed: only those of this stage")
	return c
}

// retryFailed runs all failed tasks of a rollout again, and answers for each. One that
// is refused keeps the others from nothing.
func (e *env) retryFailed(ctx context.Context, s *app.Session, text, stage string) error {
	id, err := findRollout(ctx, s, text)
	if err != nil {
		return err
	}
	tasks, err := rollout.AllTasks(ctx, s.Rollouts, id, rollout.TaskFilter{Status: rollout.Failed, Stage: stage})
	if err != nil {
		return err
	}
	o := e.output()
	if len(tasks) == 0 {
		o.say("Rollout %s has no task that is FAILED.", short(id))
	}
	var refused error
	for _, t := range tasks {
		a, err := s.Rollouts.Retry(ctx, whoami(), t.ID)
		switch {
		case err != nil:
			refused = err
			o.say("%s: %s", clean(t.Key), clean(problem.Explain(err).What))
		case o.table():
			fmt.Fprintf(o.Out, "%s: %s.\n", clean(t.Key), clean(a.Text))
		default:
			if err := printEach(o, []answered{{t.ID, a}}, func(a answered) string { return a.ID.String() }); err != nil {
				return err
			}
		}
	}
	return refused
}

func (e *env) rolloutSkip() *cobra.Command {
	var reason string
	c := &cobra.Command{Use: "skip TASK", Short: "Decide that a change need not run on a database; what comes after it goes on", Example: "  weir rollout skip orders-2026-11/prod/orders-eu/7 --reason 'done by hand'"}
	c.Flags().StringVar(&reason, "reason", "", "why it need not run; it must be given")
	return e.onRun(c, func(ctx context.Context, s *app.Session, task weir.ID) (rollout.Answer, error) {
		if reason == "" {
			return rollout.Answer{}, invalid("give --reason TEXT: it goes into the history", "--reason is missing")
		}
		return s.Rollouts.Skip(ctx, whoami(), task, reason)
	})
}

func (e *env) rolloutCancel() *cobra.Command {
	var reason string
	c := &cobra.Command{Use: "cancel TASK", Short: "Cancel the run of a task; one that runs is asked to stop", Example: "  weir rollout cancel orders-2026-11/prod/orders-eu/7"}
	c.Flags().StringVar(&reason, "reason", "", "why, for the timeline")
	return e.onRun(c, func(ctx context.Context, s *app.Session, task weir.ID) (rollout.Answer, error) {
		return s.Rollouts.Cancel(ctx, whoami(), task, reason)
	})
}

func (e *env) rolloutResolve() *cobra.Command {
	var reason string
	var applied, not bool
	c := &cobra.Command{
		Use: "resolve TASK", Short: "Say what became of a run whose outcome is UNKNOWN",
		Example: "  weir rollout resolve orders-2026-11/prod/orders-eu/7 --applied --reason 'the column is there'\n  weir rollout resolve 8057b302099a --not-applied --reason 'the index is missing'",
	}
	c.Flags().BoolVar(&applied, "applied", false, "it was applied: the task ends DONE")
	c.Flags().BoolVar(&not, "not-applied", false, "it was not: the task is FAILED and may be retried")
	c.Flags().StringVar(&reason, "reason", "", "how you know; it must be given")
	e.onRun(c, func(ctx context.Context, s *app.Session, task weir.ID) (rollout.Answer, error) {
		switch {
		case applied == not:
			return rollout.Answer{}, invalid("give --applied or --not-applied", "say whether the change was applied")
		case reason == "":
			return rollout.Answer{}, invalid("give --reason TEXT: how you know", "--reason is missing")
		}
		return s.Rollouts.Resolve(ctx, whoami(), task, applied, reason)
	})
	return e.keyed(c)
}
