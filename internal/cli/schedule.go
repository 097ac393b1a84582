package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/work"
)

func (e *env) schedule() *cobra.Command {
	return e.noun("schedule", "Workflows, tasks and fleet jobs that run again and again", []string{"schedules"},
		lists(e, work.ListSchedules, &cobra.Command{}, scheduleListing), e.scheduleShow(), e.scheduleNext(), e.scheduleSet(),
		e.scheduleRun(), e.scheduleDrop(), e.schedulePause(work.PauseSchedule, "Stop a schedule; what it submitted stays"),
		e.schedulePause(work.ResumeSchedule, "Let a paused schedule go on"))
}

var scheduleListing = listing[work.Schedule]{
	name:  func(s work.Schedule) string { return s.Name },
	empty: []string{"There are no schedules.", "Make one with: weir schedule set NAME --cron '0 3 * * *' --workflow WORKFLOW"},
	columns: []column[work.Schedule]{
		{title: "NAME", value: func(_ *output, s work.Schedule) string { return s.Name }},
		{title: "WHEN", value: func(_ *output, s work.Schedule) string { return s.Spec }},
		{title: "ZONE", value: func(_ *output, s work.Schedule) string { return s.Zone }},
		{title: "RUNS", value: func(_ *output, s work.Schedule) string { return scheduleRuns(s) }},
		{title: "MISSED", wide: true, value: func(_ *output, s work.Schedule) string { return s.Missed }},
		{title: "OVERLAP", wide: true, value: func(_ *output, s work.Schedule) string { return s.Overlap }},
		{title: "PAUSED", wide: true, value: func(_ *output, s work.Schedule) string { return yes(s.Paused) }},
		{title: "LAST", ages: true, value: func(o *output, s work.Schedule) string { return o.ago(s.LastAt) }},
		{title: "LAST TASK", wide: true, value: func(_ *output, s work.Schedule) string { return idText(s.LastTask) }},
		{title: "LAST JOB", wide: true, value: func(_ *output, s work.Schedule) string { return idText(s.LastJob) }},
		{title: "NEXT", ages: true, value: func(o *output, s work.Schedule) string {
			switch {
			case s.Paused:
				return "paused"
			case s.NextAt.IsZero():
				return "over"
			}
			return o.ago(s.NextAt)
		}, paint: stateColor},
	},
}

// scheduleRuns is what a schedule runs: a workflow, or a task of a service.
func scheduleRuns(s work.Schedule) string {
	if s.Workflow != "" {
		return "workflow " + s.Workflow
	}
	return s.Service
}

func (e *env) scheduleShow() *cobra.Command {
	c := &cobra.Command{Short: "Show a schedule: when it is due and what it submits"}
	return operation(e, work.ShowSchedule, c, func(_ context.Context, _ *app.Session, _ *work.NamedSchedule, found work.Schedule) error {
		o := e.output()
		return o.show(found.Name, found, func() error { return printSchedule(o, found) })
	})
}

func printSchedule(o *output, s work.Schedule) error {
	next, overlap := o.both(s.NextAt), s.Overlap
	switch {
	case s.Paused:
		next = "paused"
	case next == "":
		next = "over"
	}
	if s.Workflow == "" && s.Service != node.Fleet {
		overlap = ""
	}
	return o.details([]field{
		{"Schedule", s.Name},
		{"When", s.Spec},
		{"Zone", s.Zone},
		{"Missed", s.Missed},
		{"Next", next},
		{"Last", o.both(s.LastAt)},
		{"Last task", idText(s.LastTask)},
		{"Last job", idText(s.LastJob)},
		{"Workflow", s.Workflow},
		{"Options", pretty(s.Options)},
		{"Overlap", overlap},
		{"Catches up", interval(s.CatchUp)},
		{"Jitter", interval(s.Jitter)},
		{"Service", s.Service},
		{"Task", pretty(s.Task)},
		{"Changed", o.both(s.ChangedAt)},
	})
}

func (e *env) scheduleDrop() *cobra.Command {
	c := &cobra.Command{Aliases: []string{"rm"}, Short: "Delete a schedule; what it submitted stays"}
	return operation(e, work.DropSchedule, c, func(_ context.Context, _ *app.Session, in *work.DroppingSchedule, _ op.Nothing) error {
		return e.output().did(in.Schedule, bare{in.Schedule}, "Schedule %s is gone.", in.Schedule)
	})
}

func (e *env) schedulePause(o *op.Op[*work.Store, work.NamedSchedule, op.Nothing], short string) *cobra.Command {
	return operation(e, o, &cobra.Command{Short: short}, func(ctx context.Context, s *app.Session, in *work.NamedSchedule, _ op.Nothing) error {
		made, err := work.ShowSchedule.Call(ctx, s.Operations, in)
		if err != nil {
			return err
		}
		return e.scheduled(made, "is paused", "goes on")
	})
}

// scheduled tells what became of a schedule.
func (e *env) scheduled(s work.Schedule, paused, going string) error {
	o := e.output()
	if s.Paused {
		return o.did(s.Name, s, "Schedule %s %s. Let it go on with: weir schedule resume %s", s.Name, paused, s.Name)
	}
	return o.did(s.Name, s, "Schedule %s %s; it is due %s.", s.Name, going, o.both(s.NextAt))
}
