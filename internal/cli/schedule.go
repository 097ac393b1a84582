package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/node"
)

func (e *env) schedule() *cobra.Command {
	return e.noun("schedule", "Workflows, tasks and fleet jobs that run again and again", []string{"schedules"},
		e.scheduleList(), e.scheduleShow(), e.scheduleNext(), e.scheduleSet(), e.scheduleRun(), e.scheduleDrop(), e.schedulePause("pause", "Stop a schedule; what it submitted stays", true), e.schedulePause("resume", "Let a paused schedule go on", false))
}

func (e *env) scheduleList() *cobra.Command {
	var page view.Page
	c := &cobra.Command{Short: "List schedules"}
	listCommand(e, c, func(_ context.Context, s *app.Session, _ []string) (list[view.Schedule], error) {
		return plainList(page, scheduleListing, s.Store.Schedules), nil
	})
	pageFlags(c, &page, "name")
	return c
}

var scheduleListing = listing[view.Schedule]{
	name:  func(s view.Schedule) string { return s.Name },
	empty: []string{"There are no schedules.", "Make one with: weir schedule set NAME --cron '0 3 * * *' --workflow WORKFLOW"},
	columns: []column[view.Schedule]{
		{title: "NAME", value: func(_ *output, s view.Schedule) string { return s.Name }},
		{title: "WHEN", value: func(_ *output, s view.Schedule) string { return s.Spec }},
		{title: "ZONE", value: func(_ *output, s view.Schedule) string { return s.Zone }},
		{title: "RUNS", value: func(_ *output, s view.Schedule) string { return scheduleRuns(s) }},
		{title: "MISSED", wide: true, value: func(_ *output, s view.Schedule) string { return s.Missed }},
		{title: "OVERLAP", wide: true, value: func(_ *output, s view.Schedule) string { return s.Overlap }},
		{title: "PAUSED", wide: true, value: func(_ *output, s view.Schedule) string { return yes(s.Paused) }},
		{title: "LAST", ages: true, value: func(o *output, s view.Schedule) string { return o.ago(s.LastAt) }},
		{title: "LAST TASK", wide: true, value: func(_ *output, s view.Schedule) string { return idText(s.LastTask) }},
		{title: "LAST JOB", wide: true, value: func(_ *output, s view.Schedule) string { return idText(s.LastJob) }},
		{title: "NEXT", ages: true, value: func(o *output, s view.Schedule) string {
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
func scheduleRuns(s view.Schedule) string {
	if s.Workflow != "" {
		return "workflow " + s.Workflow
	}
	return s.Service
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

func (e *env) scheduleShow() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Show a schedule: when it is due and what it submits", Args: e.args("NAME"),
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			found, err := s.Store.Schedule(ctx, args[0])
			if err != nil {
				return err
			}
			o := e.output()
			switch {
			case o.data():
				return o.value(found)
			case o.format == "name":
				return o.did(found.Name, nil, "")
			}
			next := o.both(found.NextAt)
			switch {
			case found.Paused:
				next = "paused"
			case next == "":
				next = "over"
			}
			overlap := found.Overlap
			if found.Workflow == "" && found.Service != node.Fleet {
				overlap = ""
			}
			return o.details([]field{
				{"Schedule", found.Name},
				{"When", found.Spec},
				{"Zone", found.Zone},
				{"Missed", found.Missed},
				{"Next", next},
				{"Last", o.both(found.LastAt)},
				{"Last task", idText(found.LastTask)},
				{"Last job", idText(found.LastJob)},
				{"Workflow", found.Workflow},
				{"Options", pretty(found.Options)},
				{"Overlap", overlap},
				{"Catches up", interval(found.CatchUp)},
				{"Jitter", interval(found.Jitter)},
				{"Service", found.Service},
				{"Task", pretty(found.Task)},
				{"Changed", o.both(found.ChangedAt)},
			})
		}),
	}
}

func (e *env) scheduleDrop() *cobra.Command {
	return &cobra.Command{
		Use: "drop NAME", Aliases: []string{"rm"}, Short: "Delete a schedule; what it submitted stays", Args: e.args("NAME"),
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			if err := s.Client.DropSchedule(ctx, args[0], whoami()); err != nil {
				return err
			}
			return e.output().did(args[0], struct {
				Name string `json:"name"`
			}{args[0]}, "Schedule %s is gone.", args[0])
		}),
	}
}

func (e *env) schedulePause(verb, short string, paused bool) *cobra.Command {
	return &cobra.Command{
		Use: verb + " NAME", Short: short, Args: e.args("NAME"),
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			if err := s.Client.PauseSchedule(ctx, args[0], paused, whoami()); err != nil {
				return err
			}
			made, err := s.Store.Schedule(ctx, args[0])
			if err != nil {
				return err
			}
			o := e.output()
			if paused {
				return o.did(made.Name, made, "Schedule %s is paused. Let it go on with: weir schedule resume %s", made.Name, made.Name)
			}
			return o.did(made.Name, made, "Schedule %s goes on; it is due %s.", made.Name, o.both(made.NextAt))
		}),
	}
}
