package workflowcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/work"
)

// Schedule is the command weir schedule.
func Schedule(e *command.Env) *cobra.Command {
	return e.Noun("schedule", "Workflows, tasks and fleet jobs that run again and again", []string{"schedules"},
		command.Lists(e, work.ListSchedules, &cobra.Command{}, scheduleListing), scheduleShow(e), scheduleNext(e), scheduleSet(e),
		scheduleRun(e), scheduleDrop(e), schedulePause(e, work.PauseSchedule, "Stop a schedule; what it submitted stays"),
		schedulePause(e, work.ResumeSchedule, "Let a paused schedule go on"))
}

var scheduleListing = command.Listing[work.Schedule]{
	Name:  func(s work.Schedule) string { return s.Name },
	Empty: []string{"There are no schedules.", "Make one with: weir schedule set NAME --cron '0 3 * * *' --workflow WORKFLOW"},
	Columns: []command.Column[work.Schedule]{
		{Title: "NAME", Value: func(_ *command.Output, s work.Schedule) string { return s.Name }},
		{Title: "WHEN", Value: func(_ *command.Output, s work.Schedule) string { return s.Spec }},
		{Title: "ZONE", Value: func(_ *command.Output, s work.Schedule) string { return s.Zone }},
		{Title: "RUNS", Value: func(_ *command.Output, s work.Schedule) string { return scheduleRuns(s) }},
		{Title: "MISSED", Wide: true, Value: func(_ *command.Output, s work.Schedule) string { return s.Missed }},
		{Title: "OVERLAP", Wide: true, Value: func(_ *command.Output, s work.Schedule) string { return s.Overlap }},
		{Title: "PAUSED", Wide: true, Value: func(_ *command.Output, s work.Schedule) string { return command.Yes(s.Paused) }},
		{Title: "LAST", Ages: true, Value: func(o *command.Output, s work.Schedule) string { return o.Ago(s.LastAt) }},
		{Title: "LAST TASK", Wide: true, Value: func(_ *command.Output, s work.Schedule) string { return command.IDText(s.LastTask) }},
		{Title: "LAST JOB", Wide: true, Value: func(_ *command.Output, s work.Schedule) string { return command.IDText(s.LastJob) }},
		{Title: "NEXT", Ages: true, Value: func(o *command.Output, s work.Schedule) string {
			switch {
			case s.Paused:
				return "paused"
			case s.NextAt.IsZero():
				return "over"
			}
			return o.Ago(s.NextAt)
		}, Paint: command.StateColor},
	},
}

// scheduleRuns is what a schedule runs: a workflow, or a task of a service.
func scheduleRuns(s work.Schedule) string {
	if s.Workflow != "" {
		return "workflow " + s.Workflow
	}
	return s.Service
}

func scheduleShow(e *command.Env) *cobra.Command {
	c := &cobra.Command{Short: "Show a schedule: when it is due and what it submits"}
	return command.Operation(e, work.ShowSchedule, c, func(_ context.Context, _ *app.Session, _ *work.NamedSchedule, found work.Schedule) error {
		o := e.Output()
		return o.Show(found.Name, found, func() error { return printSchedule(o, found) })
	})
}

func printSchedule(o *command.Output, s work.Schedule) error {
	next, overlap := o.Both(s.NextAt), s.Overlap
	switch {
	case s.Paused:
		next = "paused"
	case next == "":
		next = "over"
	}
	if s.Workflow == "" && s.Service != node.Fleet {
		overlap = ""
	}
	return o.Details([]command.Field{
		{"Schedule", s.Name},
		{"When", s.Spec},
		{"Zone", s.Zone},
		{"Missed", s.Missed},
		{"Next", next},
		{"Last", o.Both(s.LastAt)},
		{"Last task", command.IDText(s.LastTask)},
		{"Last job", command.IDText(s.LastJob)},
		{"Workflow", s.Workflow},
		{"Options", command.Pretty(s.Options)},
		{"Overlap", overlap},
		{"Catches up", command.Interval(s.CatchUp)},
		{"Jitter", command.Interval(s.Jitter)},
		{"Service", s.Service},
		{"Task", command.Pretty(s.Task)},
		{"Changed", o.Both(s.ChangedAt)},
	})
}

func scheduleDrop(e *command.Env) *cobra.Command {
	c := &cobra.Command{Aliases: []string{"rm"}, Short: "Delete a schedule; what it submitted stays"}
	return command.Told(e, work.DropSchedule, c, "Schedule %s is gone.")
}

func schedulePause(e *command.Env, o *op.Op[*work.Store, work.NamedSchedule, op.Nothing], short string) *cobra.Command {
	return command.Operation(e, o, &cobra.Command{Short: short}, func(ctx context.Context, s *app.Session, in *work.NamedSchedule, _ op.Nothing) error {
		made, err := work.ShowSchedule.Call(ctx, s.Operations, in)
		if err != nil {
			return err
		}
		return scheduled(e, made, "is paused", "goes on")
	})
}

// scheduled tells what became of a schedule.
func scheduled(e *command.Env, s work.Schedule, paused, going string) error {
	o := e.Output()
	if s.Paused {
		return o.Did(s.Name, s, "Schedule %s %s. Let it go on with: weir schedule resume %s", s.Name, paused, s.Name)
	}
	return o.Did(s.Name, s, "Schedule %s %s; it is due %s.", s.Name, going, o.Both(s.NextAt))
}

// ScheduleNames are those of schedules.
var ScheduleNames = command.Listed(work.ListSchedules, func(s work.Schedule) (string, string) { return s.Name, s.Spec + " " + scheduleRuns(s) })
