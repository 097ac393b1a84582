package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
)

func (e *env) schedule() *cobra.Command {
	return e.noun("schedule", "Tasks that are submitted again and again", []string{"schedules"},
		e.scheduleList(), e.scheduleShow(), e.scheduleSet(), e.scheduleDrop(), e.schedulePause("pause", "Stop a schedule; what it submitted stays", true), e.schedulePause("resume", "Let a paused schedule go on", false))
}

func (e *env) scheduleList() *cobra.Command {
	var page view.Page
	c := &cobra.Command{Short: "List schedules"}
	listCommand(e, c, func(_ context.Context, s *app.Session) (list[view.Schedule], error) {
		return plainList(page, scheduleListing, s.Store.Schedules), nil
	})
	pageFlags(c, &page, "name")
	return c
}

var scheduleListing = listing[view.Schedule]{
	name:  func(s view.Schedule) string { return s.Name },
	empty: []string{"There are no schedules.", "Make one with: weir schedule set NAME --cron '0 3 * * *' --service SERVICE"},
	columns: []column[view.Schedule]{
		{title: "NAME", value: func(_ *output, s view.Schedule) string { return s.Name }},
		{title: "WHEN", value: func(_ *output, s view.Schedule) string { return s.Spec }},
		{title: "ZONE", value: func(_ *output, s view.Schedule) string { return s.Zone }},
		{title: "SERVICE", value: func(_ *output, s view.Schedule) string { return s.Service }},
		{title: "MISSED", wide: true, value: func(_ *output, s view.Schedule) string { return s.Missed }},
		{title: "PAUSED", wide: true, value: func(_ *output, s view.Schedule) string { return yes(s.Paused) }},
		{title: "LAST", ages: true, value: func(o *output, s view.Schedule) string { return o.ago(s.LastAt) }},
		{title: "LAST TASK", wide: true, value: func(_ *output, s view.Schedule) string { return idText(s.LastTask) }},
		{title: "NEXT", ages: true, value: func(o *output, s view.Schedule) string {
			if s.Paused {
				return "paused"
			}
			return o.ago(s.NextAt)
		}, paint: stateColor},
	},
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
			if found.Paused {
				next = "paused"
			}
			return o.details([]field{
				{"Schedule", found.Name},
				{"When", found.Spec},
				{"Zone", found.Zone},
				{"Missed", found.Missed},
				{"Next", next},
				{"Last", o.both(found.LastAt)},
				{"Last task", idText(found.LastTask)},
				{"Service", found.Service},
				{"Task", pretty(found.Task)},
				{"Changed", o.both(found.ChangedAt)},
			})
		}),
	}
}

func (e *env) scheduleSet() *cobra.Command {
	var f taskFlags
	var s weir.Schedule
	var cron, every, missed, service string
	c := &cobra.Command{
		Use: "set NAME", Short: "Make a schedule, or change it", Args: e.args("NAME"),
		Example: "  weir schedule set nightly --cron '0 3 * * *' --zone Europe/Budapest --service report\n  weir schedule set tidy --every 10m --service tidy --missed skip",
	}
	c.RunE = e.session(func(ctx context.Context, session *app.Session, args []string) (err error) {
		o := e.output()
		s.Name, s.Missed, s.By = args[0], weir.Missed(missed), whoami()
		switch {
		case cron != "" && every != "":
			return invalid("give only one of --cron and --every", "a schedule has one time")
		case cron == "" && every == "":
			return invalid("give --cron '0 3 * * *' or --every 10m", "a schedule needs a time")
		case cron != "":
			s.Spec = strings.TrimSpace(cron)
		default:
			d, err := app.ParseDuration(every)
			if err != nil || d == app.Forever {
				return invalid("write it so: --every 10m", "--every: %q is not a duration", every)
			}
			s.Spec = "@every " + everyText(d)
		}
		if service == "" {
			return invalid("say who does the work: --service NAME", "a schedule needs a service")
		}
		if s.Task, err = f.read(c, e.In, service, o.now); err != nil {
			return err
		}
		if err := session.Client.SetSchedule(ctx, s); err != nil {
			return single(err)
		}
		made, err := session.Store.Schedule(ctx, s.Name)
		if err != nil {
			return err
		}
		return o.did(s.Name, made, "Schedule %s is set; it is due %s.", s.Name, o.both(made.NextAt))
	})
	c.Flags().StringVar(&cron, "cron", "", "cron `line` of five fields, or @hourly, @daily, …")
	c.Flags().StringVar(&every, "every", "", "time between two runs, such as 10m")
	c.Flags().StringVar(&s.Zone, "zone", "", "time zone of the cron line; default: UTC")
	c.Flags().StringVar(&missed, "missed", "", "runs that were missed: skip, one or all; default: one")
	c.Flags().BoolVar(&s.Paused, "paused", false, "make it, but do not start it")
	c.Flags().StringVar(&service, "service", "", "service that does the work")
	f.register(c)
	return c
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
