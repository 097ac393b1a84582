package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/bulk"
	"github.com/weirhq/weir/internal/workflow"
)

func (e *env) jobRerun() *cobra.Command {
	var r workflow.RerunRequest
	var watch, log bool
	c := &cobra.Command{
		Use: "rerun ID", Short: "Do a job of a workflow again, as a new job", Args: e.args("ID"),
		Long: `Do a job of a workflow again, as a new job with the same version and options.

With --from it begins with that step, with --failed with what was not done. Steps
before that are not run: they end with the result that they had.`,
		Example: "  weir job rerun 8057b302099a --watch\n  weir job rerun 8057b302099a --from render\n  weir job rerun 8057b302099a --failed",
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			if r.From != "" && r.Failed {
				return invalid("give only one of --from and --failed", "a job is done again from one place")
			}
			id, err := s.Store.JobID(ctx, args[0])
			if err != nil {
				return err
			}
			made, err := s.Flows.Rerun(ctx, id, r)
			if err != nil {
				return err
			}
			o := e.output()
			o.lines = watch || log
			if err := o.did(made.String(), struct {
				ID     weir.ID `json:"id"`
				Origin weir.ID `json:"origin"`
			}{made, id}, "Job %s does %s again.", made, short(id)); err != nil {
				return err
			}
			return follows(ctx, o, s, made, watch, log)
		}),
	}
	flags := c.Flags()
	flags.StringVar(&r.From, "from", "", "begin with this `step`; all that comes after it runs again")
	flags.BoolVar(&r.Failed, "failed", false, "begin with what was not done")
	flags.BoolVarP(&watch, "watch", "w", false, "watch the new job until it has ended; the exit code is how it ended")
	flags.BoolVar(&log, "log", false, "watch it, and print what the steps print")
	settingFlags(c, false, "bucket")
	return c
}

func (e *env) jobRetry() *cobra.Command {
	c := &cobra.Command{Short: "Run all tasks of a job again that failed or were canceled, in the same job", Example: "  weir job retry 8057b302099a\n  weir job retry --workflow media --state failed --since 2h"}
	return e.jobCommand(c, bulk.Retry, "running again", func(ctx context.Context, s *app.Session, text string, order bulk.Order) error {
		id, err := s.Store.JobID(ctx, text)
		if err != nil {
			return err
		}
		tasks, err := s.Flows.RetryJob(ctx, id, order.Decision)
		if err != nil {
			return err
		}
		return e.output().did(id.String(), struct {
			ID    weir.ID `json:"id"`
			Tasks int     `json:"tasks"`
		}{id, tasks}, "Job %s: %s again.\nWatch it with: weir job watch %s", short(id), plural(tasks, "task runs", "tasks run"), short(id))
	})
}

func (e *env) jobWhy() *cobra.Command {
	return &cobra.Command{
		Use: "why ID", Short: "Say what a job waits for", Args: e.args("ID"),
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			id, err := s.Store.JobID(ctx, args[0])
			if err != nil {
				return err
			}
			return e.printJobWhy(ctx, s, id)
		}),
	}
}
