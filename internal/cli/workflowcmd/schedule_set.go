package workflowcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/cli/fleetcmd"
	"github.com/weirhq/weir/internal/cli/workcmd"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
)

// scheduleFlags are a schedule as flags.
type scheduleFlags struct {
	schedule        work.ScheduleSpec
	task            workcmd.TaskFlags
	options         optionFlags
	cron, every, at string
	catchUp, jitter string
	service         string
}

func scheduleSet(e *command.Env) *cobra.Command {
	var f scheduleFlags
	c := &cobra.Command{
		Use: "set NAME", Short: "Make a schedule, or change it", Args: e.Args("NAME"),
		Long: `Make a schedule, or change it: when it is due, and what runs then. That is a
workflow, with its params, a single task of a service, or a fleet job: the service
fleet, with the file of the job as --params-file.`,
		Example: "  weir schedule set nightly --cron '0 3 * * *' --zone Europe/Budapest --workflow media --param source=s3://raw/today --overlap skip\n" +
			"  weir schedule set smoke --cron '0 2 * * *' --service fleet --params-file fleet.yaml --overlap skip\n" +
			"  weir schedule set tidy --every 10m --service tidy --missed skip\n  weir schedule set once --at 2026-12-24T18:00:00Z --workflow greet",
	}
	c.RunE = e.Session(func(ctx context.Context, session *app.Session, args []string) error {
		s, err := f.read(c, e.In, e.Output().Now)
		if err != nil {
			return err
		}
		if s.Workflow != "" && f.options.given() {
			options, err := f.options.read(e.In)
			if err != nil {
				return err
			}
			f.options.fit(options, f.options.stored(ctx, session, s.Workflow, 0))
			if s.Options, err = json.Marshal(options); err != nil {
				return fmt.Errorf("write the options: %w", err)
			}
		}
		in := work.PuttingSchedule{NamedSchedule: work.NamedSchedule{Schedule: args[0]}, Body: s}
		made, err := op.Over(ctx, session.Operations, work.PutSchedule, &in, &in.Matched)
		if err != nil {
			return problem.Below(err, "tasks[0]")
		}
		return scheduled(e, made, "is set and paused", "is set")
	})
	flags := c.Flags()
	flags.StringVar(&f.cron, "cron", "", "cron `line` of five fields, or @hourly, @daily, …")
	flags.StringVar(&f.every, "every", "", "time between two runs, such as 10m")
	flags.StringVar(&f.at, "at", "", "once, at this `time`: 2026-01-31T08:00:00Z, or +5m from now")
	flags.StringVar(&f.schedule.Zone, "zone", "", "time zone of the cron line; default: UTC")
	flags.StringVar(&f.schedule.Missed, "missed", "", "runs that were missed: skip, one or all; default: one")
	flags.StringVar(&f.catchUp, "catch-up", "", "how far back missed runs are made up for, such as 6h; default: no limit")
	flags.StringVar(&f.jitter, "jitter", "", "put each run off by a part of this, so that not all start at once")
	flags.BoolVar(&f.schedule.Paused, "paused", false, "make it, but do not start it")
	flags.StringVar(&f.schedule.Workflow, "workflow", "", "workflow that runs")
	flags.StringVar(&f.schedule.Overlap, "overlap", "", "when the last run of the workflow or fleet job has not ended: allow, skip, queue_one, queue_all or cancel_running; default: allow")
	f.options.register(c)
	flags.StringVar(&f.service, "service", "", "service of the task that runs, instead of a workflow")
	f.task.Register(c)
	for flag, words := range map[string][]string{
		"missed": {"skip", "one", "all"}, "overlap": {"allow", "skip", "queue_one", "queue_all", "cancel_running"},
	} {
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	return c
}

// read makes the schedule. now is what durations are counted from.
func (f *scheduleFlags) read(c *cobra.Command, in io.Reader, now time.Time) (s work.ScheduleSpec, err error) {
	s = f.schedule
	if s.Spec, err = f.spec(now); err != nil {
		return s, err
	}
	for _, d := range []struct {
		flag, text string
		into       *op.Period
	}{{"catch-up", f.catchUp, &s.CatchUp}, {"jitter", f.jitter, &s.Jitter}} {
		if d.text == "" {
			continue
		}
		span, err := app.ParseDuration(d.text)
		if err != nil || span == app.Forever {
			return s, command.Invalid("write it so: --"+d.flag+" 10m", "--%s: %q is not a duration", d.flag, d.text)
		}
		*d.into = op.Period(span)
	}
	switch {
	case s.Workflow != "" && f.service != "":
		return s, command.Invalid("give only one of --workflow and --service", "a schedule runs one thing")
	case s.Workflow == "" && f.service == "":
		return s, command.Invalid("say what runs: --workflow NAME, or --service NAME", "a schedule needs a workflow or a service")
	case f.service == node.Fleet:
		s.Task, err = f.fleetTask(c, in)
		return s, err
	case s.Workflow == "" && (f.options.given() || s.Overlap != ""):
		return s, command.Invalid("give --workflow NAME; a task takes --params JSON", "--param, --params-file, --step and --overlap are for workflows and fleet jobs")
	case s.Workflow == "":
		task, err := f.task.Read(c, in, f.service, now)
		s.Task = &task
		return s, err
	}
	for _, flag := range taskOnly() {
		if c.Flags().Changed(flag) {
			return s, command.Invalid("say it in the workflow's steps; its params are given with --param", "--%s is for tasks", flag)
		}
	}
	return s, nil
}

// fleetTask is the task that submits a fleet job: its params are the job. What a run
// would refuse is refused now.
func (f *scheduleFlags) fleetTask(c *cobra.Command, in io.Reader) (*work.TaskSpec, error) {
	t := &work.TaskSpec{Service: node.Fleet}
	for _, flag := range append([]string{"param", "step", "skip"}, taskOnly()...) {
		if flag != "params" && c.Flags().Changed(flag) {
			return t, command.Invalid("say it in the file of the fleet job", "--%s is not for fleet jobs", flag)
		}
	}
	var spec fleet.Spec
	switch {
	case f.options.file != "" && f.task.Params != "":
		return t, command.Invalid("give one of them", "--params and --params-file: a schedule submits one fleet job")
	case f.options.file != "":
		read, err := fleetcmd.ReadFleet(f.options.file, in)
		if err != nil {
			return t, err
		}
		spec = read
	case f.task.Params != "":
		text, err := command.ReadJSON(f.task.Params, in)
		if err != nil {
			return t, err
		}
		if spec, err = fleet.ParseSpec(text); err != nil {
			return t, err
		}
	default:
		return t, command.Invalid("give the file of a fleet job: --params-file fleet.yaml; weir fleet init writes one", "a schedule of fleet jobs needs the job")
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return t, fmt.Errorf("write the fleet job: %w", err)
	}
	t.Params = text
	return t, nil
}

// taskOnly are the flags that a workflow does not take.
func taskOnly() []string {
	flags := []string{"params", "label"}
	for _, f := range workcmd.SpecFields {
		flags = append(flags, f.Flag)
	}
	return flags
}

// spec is when the schedule is due.
func (f *scheduleFlags) spec(now time.Time) (string, error) {
	given := 0
	for _, text := range []string{f.cron, f.every, f.at} {
		if text != "" {
			given++
		}
	}
	switch {
	case given > 1:
		return "", command.Invalid("give only one of --cron, --every and --at", "a schedule has one time")
	case f.cron != "":
		return strings.TrimSpace(f.cron), nil
	case f.at != "":
		at, err := command.ReadTime(strings.TrimPrefix(f.at, "+"), now)
		if err != nil {
			return "", command.Invalid("", "--at: %s", err)
		}
		return "@at " + at.UTC().Format(time.RFC3339), nil
	case f.every != "":
		d, err := app.ParseDuration(f.every)
		if err != nil || d == app.Forever {
			return "", command.Invalid("write it so: --every 10m", "--every: %q is not a duration", f.every)
		}
		return "@every " + command.EveryText(d), nil
	}
	return "", command.Invalid("give --cron '0 3 * * *', --every 10m or --at TIME", "a schedule needs a time")
}
