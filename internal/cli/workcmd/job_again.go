package workcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/bulk"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

func jobRerun(e *command.Env) *cobra.Command {
	var watch, log, dry bool
	var params []string
	in := &workflow.Rerunning{Body: new(workflow.RerunBody)}
	c := &cobra.Command{
		Use: "rerun ID", Short: "Do a job of a workflow again, as a new job", Args: e.Args("ID"),
		Long: `Do a job of a workflow again, as a new job with the same version and options.

With --from it begins with that step, with --failed with what was not done. Steps
before that are not run: they end with the result and the files that they had.

With --newest or --version it runs on the mended workflow, with --param on other
params. A step that was done is then reused if the workflow says the same of it, if
it gets the same values, and if all steps that it needs are reused. --dry-run says
which steps those are, and why the others run.`,
		Example: "  weir job rerun 8057b302099a --watch\n  weir job rerun 8057b302099a --from render\n  weir job rerun 8057b302099a --failed --newest --dry-run\n  weir job rerun 8057b302099a --failed --param width=1280",
	}
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, args []string) (err error) {
		in.Job = args[0]
		if in.Body.Params, err = paramsOver(ctx, s, in, params); err != nil {
			return err
		}
		if dry {
			return planRerun(ctx, e.Output(), s, in)
		}
		made, err := workflow.Rerun.Call(ctx, s.Operations, in)
		if err != nil {
			return err
		}
		o := e.Output()
		o.Lines = watch || log
		if err := o.Did(made.ID.String(), made, "Job %s does %s again: %s.", made.ID, command.Short(made.Origin), reusedOf(made.Steps)); err != nil {
			return err
		}
		return Follows(ctx, o, s, made.ID, watch, log)
	})
	f := c.Flags()
	f.StringVar(&in.Body.From, "from", "", "a `step`: it and what comes after it run again; what was done before stays")
	f.BoolVar(&in.Body.Failed, "failed", false, "only what was not done runs again, and what comes after it")
	f.BoolVar(&in.Body.Newest, "newest", false, "on the newest active version of the workflow")
	f.IntVar(&in.Body.Version, "version", 0, "on this `version` of the workflow")
	f.StringArrayVar(&params, "param", nil, "param over that of the job: `NAME=VALUE`, the value JSON or else text; null takes it away; may be repeated")
	f.BoolVar(&dry, "dry-run", false, "only say which steps would be reused, and why the others would run")
	f.BoolVarP(&watch, "watch", "w", false, "watch the new job until it has ended; the exit code is how it ended")
	f.BoolVar(&log, "log", false, "watch it, and print what the steps print")
	command.SettingFlags(c, false, "bucket")
	return c
}

// reusedOf counts the steps that a rerun reuses.
func reusedOf(steps []workflow.Verdict) string {
	n := 0
	for _, v := range steps {
		if v.Reused {
			n++
		}
	}
	return fmt.Sprintf("%d of %s reused", n, command.Plural(len(steps), "step is", "steps are"))
}

var rerunListing = command.Listing[workflow.Verdict]{
	Name: func(v workflow.Verdict) string { return v.Step },
	Columns: []command.Column[workflow.Verdict]{
		{Title: "STEP", Value: func(_ *command.Output, v workflow.Verdict) string { return v.Step }},
		{Title: "REUSED", Value: func(_ *command.Output, v workflow.Verdict) string {
			if v.Reused {
				return "yes"
			}
			return "no"
		}},
		{Title: "WHY", Value: func(_ *command.Output, v workflow.Verdict) string { return v.Reason }},
	},
}

// planRerun says what a rerun would do.
func planRerun(ctx context.Context, o *command.Output, s *app.Session, in *workflow.Rerunning) error {
	page, err := workflow.PlanRerun.Call(ctx, s.Operations, in)
	if err != nil {
		return err
	}
	return rerunListing.Print(o, page.Items)
}

// paramsOver reads params as they were typed. Where the workflow wants text, a value is text,
// whatever it looks like.
func paramsOver(ctx context.Context, s *app.Session, in *workflow.Rerunning, typed []string) (map[string]any, error) {
	if len(typed) == 0 {
		return nil, nil
	}
	d := definitionOf(ctx, s, in)
	out := map[string]any{}
	for _, text := range typed {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, command.Invalid("write it so: --param width=1280", "--param: %q is not NAME=VALUE", text)
		}
		out[name] = command.ParamValue(value)
		if _, quoted := out[name].(string); d != nil && !quoted && out[name] != nil && d.WantsText(name) {
			out[name] = value
		}
	}
	return out, nil
}

// definitionOf is the definition that a rerun is of; nil if it cannot be read, which the rerun
// then tells.
func definitionOf(ctx context.Context, s *app.Session, in *workflow.Rerunning) *definition.Definition {
	j, err := work.ShowJob.Call(ctx, s.Operations, &work.NamedJob{Job: in.Job})
	if err != nil {
		return nil
	}
	named := &workflow.NamedVersion{Named: workflow.Named{Workflow: j.Name}, Version: in.Body.Version}
	w, err := workflow.Show.Call(ctx, s.Operations, named)
	if err != nil {
		return nil
	}
	d, err := definition.ParseJSON(w.Definition)
	if err != nil {
		return nil
	}
	return d
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
