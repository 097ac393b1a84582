package workflowcmd

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/workflow"
)

// backfilled is one run of the past.
type backfilled struct {
	At  time.Time `json:"at"`
	Job weir.ID   `json:"job,omitzero"`
	// Existed is set if the job was not made now.
	Existed bool `json:"existed,omitempty"`
}

var backfillListing = command.Listing[backfilled]{
	Name:  func(b backfilled) string { return command.IDText(b.Job) },
	Empty: []string{"Nothing was due in that time."},
	Columns: []command.Column[backfilled]{
		{Title: "AT", Value: func(_ *command.Output, b backfilled) string { return b.At.Format(time.RFC3339) }},
		{Title: "JOB", Value: func(_ *command.Output, b backfilled) string { return command.IDText(b.Job) }},
	},
}

func workflowBackfill(e *command.Env) *cobra.Command {
	var in workflow.Backfilling
	r := &in.Body
	var f optionFlags
	c := &cobra.Command{
		Use: "backfill NAME", Short: "Make the jobs that a timetable would have made in the past", Args: e.Args("NAME"),
		Long: `Make a job for each time between --from and --to that a timetable names, the
oldest first: that of a schedule, or one of --spec. A job that was made before is
not made again. The time that a job stands for is its scheduled_at. A day such as
2026-01-31 begins at midnight in the zone of the timetable.

With --dry-run it only says which jobs it would make.`,
		Example: "  weir workflow backfill media --schedule workflow/media/nightly --from 2026-01-01 --to 2026-02-01 --dry-run\n  weir workflow backfill media --spec '0 2 * * *' --zone Europe/Budapest --from 2026-01-01",
	}
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, args []string) (err error) {
		o := e.Output()
		in.Workflow = args[0]
		if (r.Schedule == "") == (r.Spec == "") {
			return command.Invalid("give --schedule NAME (weir schedule list shows them), or --spec '0 2 * * *'", "a backfill needs one timetable")
		}
		if f.given() {
			options, err := f.read(e.In)
			if err != nil {
				return err
			}
			f.fit(options, f.stored(ctx, s, args[0], 0))
			r.Options = &options
		}
		made, err := workflow.Backfill.Call(ctx, s.Operations, &in)
		if err != nil {
			return err
		}
		rows := make([]backfilled, len(made.Times))
		for i := range rows {
			rows[i].At = made.Times[i]
			if i < len(made.Jobs) {
				rows[i].Job, rows[i].Existed = made.Jobs[i], slices.Contains(made.Existed, made.Jobs[i])
			}
		}
		if err := backfillListing.Print(o, rows); err != nil || !o.Table() || len(rows) == 0 {
			return err
		}
		if r.DryRun {
			o.Say("%s would be made, %d exist. Make them without --dry-run.",
				command.Plural(len(rows)-len(made.Existed), "job", "jobs"), len(made.Existed))
			return nil
		}
		o.Say("%s made, %d existed. See them with: weir job list --name %s",
			command.Plural(len(rows)-len(made.Existed), "job", "jobs"), len(made.Existed), command.Clean(in.Workflow))
		return nil
	})
	flags := c.Flags()
	flags.StringVar(&r.From, "from", "", "first `time`, such as 2026-01-31, a day in the zone of the timetable, or 2026-01-31T08:00:00Z")
	flags.StringVar(&r.To, "to", "", "end of the `time`, not included; default: now")
	flags.StringVar(&r.Schedule, "schedule", "", "schedule whose runs they are")
	flags.StringVar(&r.Spec, "spec", "", "cron `line` instead of a schedule")
	flags.StringVar(&r.Zone, "zone", "", "time zone of the line; default: UTC")
	flags.BoolVar(&r.DryRun, "dry-run", false, "only say which jobs would be made")
	f.register(c)
	_ = c.MarkFlagRequired("from")
	return c
}
