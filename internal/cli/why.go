package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/cli/fleetcmd"
	"github.com/weirhq/weir/internal/cli/rolloutcmd"
	"github.com/weirhq/weir/internal/cli/workcmd"
	"github.com/weirhq/weir/internal/cli/workspacecmd"
	"github.com/weirhq/weir/internal/rollout"
)

func why(e *command.Env) *cobra.Command {
	return &cobra.Command{
		Use: "why ID", Short: "Say why a task, a job, a rollout, a fleet job or a workspace is where it is: by whom, since when", Args: e.Args("ID"),
		Example: "  weir why 8057b302099a\n  weir why JOB/STEP\n  weir why orders-2026-11",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			o := e.Output()
			task, missing := workcmd.FindTask(ctx, s, args[0])
			if missing == nil {
				_, missing = workcmd.ShowTask(ctx, s, task) // a whole id is taken for what it says
			}
			if missing == nil {
				return workcmd.PrintTaskWhy(ctx, o, s, task)
			}
			if r, err := rollout.Show.Call(ctx, s.Operations, &rollout.Named{Rollout: args[0]}); err == nil {
				return rolloutcmd.PrintRolloutWhy(o, r)
			}
			if why, err := fleetcmd.WhyFleet(ctx, s, args[0], 0); err == nil {
				return fleetcmd.PrintFleetWhy(o, why)
			}
			if w, err := workspacecmd.Find(ctx, s, args[0]); err == nil {
				return workspacecmd.PrintWorkspaceWhy(ctx, o, s, w)
			}
			job, err := workcmd.FindJob(ctx, s, args[0])
			if err == nil {
				_, err = workcmd.ShowJob(ctx, s, job)
			}
			if err != nil {
				return missing
			}
			return workcmd.PrintJobWhy(ctx, o, s, job)
		}),
	}
}
