package workcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/bulk"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
)

func jobRerun(e *command.Env) *cobra.Command {
	var watch, log bool
	c := &cobra.Command{
		Short: "Do a job of a workflow again, as a new job",
		Long: `Do a job of a workflow again, as a new job with the same version and options.

With --from it begins with that step, with --failed with what was not done. Steps
before that are not run: they end with the result that they had.`,
		Example: "  weir job rerun 8057b302099a --watch\n  weir job rerun 8057b302099a --from render\n  weir job rerun 8057b302099a --failed",
	}
	c.Flags().BoolVarP(&watch, "watch", "w", false, "watch the new job until it has ended; the exit code is how it ended")
	c.Flags().BoolVar(&log, "log", false, "watch it, and print what the steps print")
	command.SettingFlags(c, false, "bucket")
	return command.Operation(e, workflow.Rerun, c, func(ctx context.Context, s *app.Session, _ *workflow.Rerunning, made workflow.Made) error {
		o := e.Output()
		o.Lines = watch || log
		if err := o.Did(made.ID.String(), made, "Job %s does %s again.", made.ID, command.Short(made.Origin)); err != nil {
			return err
		}
		return Follows(ctx, o, s, made.ID, watch, log)
	})
}

func jobRetry(e *command.Env) *cobra.Command {
	c := &cobra.Command{Short: "Run all tasks of a job again that failed or were canceled, in the same job", Example: "  weir job retry 8057b302099a\n  weir job retry --workflow media --state failed --since 2h"}
	return jobCommand(e, c, bulk.Retry, "running again", func(ctx context.Context, s *app.Session, id weir.ID, in *work.DecidingJob) error {
		again, err := work.RetryJob.Call(ctx, s.Operations, in)
		if err != nil {
			return err
		}
		return e.Output().Did(id.String(), struct {
			ID    weir.ID `json:"id"`
			Tasks int     `json:"tasks"`
		}{id, again.Tasks}, "Job %s: %s again.\nWatch it with: weir job watch %s", command.Short(id), command.Plural(again.Tasks, "task runs", "tasks run"), command.Short(id))
	})
}

func jobWhy(e *command.Env) *cobra.Command {
	return command.On(e, &cobra.Command{Use: "why ID", Short: "Say what a job waits for"}, FindJob, PrintJobWhy)
}
