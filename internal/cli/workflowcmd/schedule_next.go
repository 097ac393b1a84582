package workflowcmd

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/cli/fleetcmd"
	"github.com/weirhq/weir/internal/cli/workcmd"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
)

var momentListing = command.Listing[time.Time]{
	Name:  func(t time.Time) string { return t.Format(time.RFC3339) },
	Empty: []string{"It is not due any more."},
	Columns: []command.Column[time.Time]{
		{Title: "AT", Value: func(_ *command.Output, t time.Time) string { return t.Format(time.RFC3339) }},
		{Title: "IN", Ages: true, Value: func(o *command.Output, t time.Time) string { return command.Span(t.Sub(o.Now)) }},
	},
}

func scheduleNext(e *command.Env) *cobra.Command {
	var n int
	c := &cobra.Command{
		Use: "next NAME", Short: "Say when a schedule is due next", Args: e.Args("NAME"),
		Example: "  weir schedule next nightly\n  weir schedule next nightly -n 20 -o json",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			found, err := work.ShowSchedule.Call(ctx, s.Operations, &work.NamedSchedule{Schedule: args[0]})
			if err != nil {
				return err
			}
			if n < 1 || n > 1000 {
				return command.Invalid("give a number from 1 to 1000", "-n: %d is not a number of runs", n)
			}
			o := e.Output()
			table := weir.Schedule{Name: found.Name, Spec: found.Spec, Zone: found.Zone}
			var times []time.Time
			if !found.NextAt.IsZero() {
				// The next one is known: an interval counts from it.
				if times, err = table.Upcoming(found.NextAt, n-1); err != nil {
					return err
				}
				times = append([]time.Time{found.NextAt}, times...)
			}
			if zone, err := time.LoadLocation(found.Zone); err == nil {
				for i := range times {
					times[i] = times[i].In(zone)
				}
			}
			if err := momentListing.Print(o, times); err != nil {
				return err
			}
			if o.Table() && found.Paused {
				o.Say("It is paused. Let it go on with: weir schedule resume %s", command.Clean(found.Name))
			}
			return nil
		}),
	}
	c.Flags().IntVarP(&n, "number", "n", 5, "how many runs, up to 1000")
	return c
}

func scheduleRun(e *command.Env) *cobra.Command {
	var watch, log bool
	c := &cobra.Command{
		Use: "run NAME", Short: "Run the workflow or the fleet job of a schedule now", Args: e.Args("NAME"),
		Long: `Run the workflow of a schedule now, with its params: a job as of weir run, which
the schedule does not count; or its fleet job, as of weir fleet run. When the schedule
is due next stays as it is.`,
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			found, err := work.ShowSchedule.Call(ctx, s.Operations, &work.NamedSchedule{Schedule: args[0]})
			if err != nil {
				return err
			}
			if found.Workflow == "" && found.Service == fleet.ServiceOfSchedules {
				return runFleet(ctx, e, s, found, watch, log)
			}
			if found.Workflow == "" {
				return problem.New(problem.Invalid, "submit a task with: weir task submit "+command.Clean(found.Service), "schedule %s runs no workflow", found.Name)
			}
			r := workflow.Running{Named: workflow.Named{Workflow: found.Workflow}}
			r.Body.Zone = found.Zone
			if len(found.Options) > 0 {
				if err := json.Unmarshal(found.Options, &r.Body.Options); err != nil {
					return err
				}
			}
			made, err := workflow.Run.Call(ctx, s.Operations, &r)
			if err != nil {
				return err
			}
			o, id := e.Output(), made.ID
			if err := o.Did(id.String(), started{ID: id, Workflow: found.Workflow}, "Job %s of workflow %s.", id, command.Clean(found.Workflow)); err != nil {
				return err
			}
			return workcmd.Follows(ctx, o, s, id, watch, log)
		}),
	}
	c.Flags().BoolVarP(&watch, "watch", "w", false, "watch it until it has ended; the exit code is how it ended")
	c.Flags().BoolVar(&log, "log", false, "watch it, and print what the steps print")
	command.SettingFlags(c, false, "bucket")
	return c
}

// runFleet submits the fleet job of a schedule.
func runFleet(ctx context.Context, e *command.Env, s *app.Session, found work.Schedule, watch, log bool) error {
	if log {
		return command.Invalid("leave it out; see what a device printed with: weir fleet log ID SERIAL",
			"--log is for workflows, and schedule %s submits fleet jobs", found.Name)
	}
	spec, err := fleet.OfSchedule(found.Name, found.Task)
	if err != nil {
		return err
	}
	made, err := fleet.Create.Call(ctx, s.Operations, &fleet.Creating{Body: fleet.CreateBody{Spec: spec}})
	if err != nil {
		return err
	}
	o := e.Output()
	err = o.Did(made.ID.String(), made, "Fleet job %s (%s) of schedule %s.", made.ID, command.Clean(made.Name), command.Clean(found.Name))
	if err != nil || !watch {
		return err
	}
	return fleetcmd.Watch(ctx, o, s, made.ID)
}
