package workcmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/bulk"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
)

// idOr takes the arguments, or a filter instead of the first.
func idOr(e *command.Env, names []string, filtered func() bool) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case filtered() && len(args) == len(names):
			e.HelpFor = cmd.CommandPath()
			return command.Invalid("give one of them", "an id and a filter: it is not clear which is meant")
		case filtered():
			return e.Args(names[1:]...)(cmd, args)
		case len(args) == 0:
			e.HelpFor = cmd.CommandPath()
			return command.Invalid("give an id, or say which ones: "+cmd.CommandPath()+" --state STATE", "ID is missing")
		}
		return e.Args(names...)(cmd, args)
	}
}

// changeMany asks, and then does it until nothing is left.
func changeMany(ctx context.Context, e *command.Env, m command.Many, order bulk.Order, f command.BulkFlags, change func(bulk.Order) (bulk.Result, error)) error {
	o := e.Output()
	if f.DryRun || !f.Yes {
		look := order
		look.DryRun = true
		found, err := change(look)
		switch {
		case err != nil:
			return narrowed(err)
		case f.DryRun:
			return looked(o, m, found)
		case found.Matched == 0 && found.Next == "":
			return o.Did("0", found, "No %s matches: nothing was done.", m.One)
		}
		if err := confirm(e, o, m, order, found); err != nil {
			return err
		}
	}
	total := bulk.Result{Refused: []bulk.Refusal{}}
	for {
		r, err := change(order)
		total.Matched, total.Changed, total.Moved = total.Matched+r.Matched, total.Changed+r.Changed, total.Moved+r.Moved
		total.Refused = append(total.Refused, r.Refused...)
		if err != nil {
			if total.Changed > 0 && o.Table() {
				o.Say("It ended early: %s.", changedWords(o, m, total))
			}
			return narrowed(err)
		}
		if order.After = r.Next; r.Next == "" {
			return toldChanged(o, m, total)
		}
		if o.Terminal && o.Table() {
			o.Say("%s so far …", m.Count(total.Changed))
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
}

// narrowed says in the words of flags that a filter is too wide.
func narrowed(err error) error {
	if p := problem.Explain(err); p.Field == "filter" {
		return command.Invalid("say which are meant, such as --state failed", "the filter is empty: all there are would be meant")
	}
	return err
}

// confirm shows what was found and asks.
func confirm(e *command.Env, o *command.Output, m command.Many, order bulk.Order, found bulk.Result) error {
	for _, line := range sampleLines(found) {
		o.Say("%s", line)
	}
	question := command.Title(order.Action) + " " + foundWords(m, found)
	if order.Action == bulk.Priority {
		question = fmt.Sprintf("Set the priority of %s to %d", foundWords(m, found), order.Priority)
	}
	return e.Sure(o, question)
}

// foundWords is how many were found; more than are counted are many.
func foundWords(m command.Many, found bulk.Result) string {
	if found.Next != "" {
		return fmt.Sprintf("%d or more %s", found.Matched, m.Several)
	}
	return m.Count(found.Matched)
}

func sampleLines(found bulk.Result) []string {
	var lines []string
	for _, item := range found.Sample {
		lines = append(lines, fmt.Sprintf("  %s  %-9s  %s", command.Short(item.ID), item.State, command.Clean(item.Name)))
	}
	if len(found.Sample) < found.Matched {
		lines = append(lines, "  …")
	}
	return lines
}

// looked prints what a look has found.
func looked(o *command.Output, m command.Many, found bulk.Result) error {
	if !o.Table() {
		return o.Did(fmt.Sprint(found.Matched), found, "")
	}
	words := foundWords(m, found) + " match"
	if found.Matched == 1 && found.Next == "" {
		words += "es"
	}
	lines := append([]string{words + "."}, sampleLines(found)...)
	_, err := fmt.Fprintln(o.Out, strings.Join(lines, "\n"))
	return err
}

// changedWords is what became of all of them.
func changedWords(o *command.Output, m command.Many, r bulk.Result) string {
	is := " are "
	if r.Changed == 1 {
		is = " is "
	}
	words := m.Count(r.Changed) + is + m.Did
	if r.Moved > 0 {
		words += fmt.Sprintf("; %d had got into another state by themselves", r.Moved)
	}
	if len(r.Refused) > 0 {
		words += fmt.Sprintf("; %d refused", len(r.Refused))
	}
	return words
}

// toldChanged prints what became of all of them. Some that were refused make it fail.
func toldChanged(o *command.Output, m command.Many, r bulk.Result) error {
	if r.Matched == 0 {
		return o.Did("0", r, "No %s matches: nothing was done.", m.One)
	}
	if err := o.Did(fmt.Sprint(r.Changed), r, "%s.", changedWords(o, m, r)); err != nil || len(r.Refused) == 0 {
		return err
	}
	if o.Table() {
		for _, refused := range r.Refused[:min(len(r.Refused), command.RefusalsShown)] {
			o.Say("  %s: %s", command.Short(refused.ID), command.Clean(refused.Why))
		}
		if more := len(r.Refused) - command.RefusalsShown; more > 0 {
			o.Say("  … and %d more", more)
		}
	}
	return command.Quiet(problem.Failed)
}

// read makes the filter of the flags.
func (f *taskFilterFlags) read(now time.Time) (filter work.TaskFilter, err error) {
	filter = f.TaskFilter
	filter.Since, err = readSince(f.since, now)
	return filter, err
}

// jobFilterFlags say which jobs are meant, here and in lists.
type jobFilterFlags struct {
	work.JobFilter
	since string
}

func (f *jobFilterFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.State, "state", "", "only jobs in this state: "+strings.Join(view.JobStates, ", "))
	flags.StringVar(&f.Kind, "kind", "", "only jobs of this kind")
	flags.StringVar(&f.Name, "name", "", "only jobs of this name; NAME* is how it begins")
	flags.StringVar(&f.Workflow, "workflow", "", "only jobs of this workflow")
	flags.StringVar(&f.Schedule, "schedule", "", "only jobs of this schedule")
	flags.StringVar(&f.since, "since", "", "only jobs made since this `time`: 2026-01-31T08:00:00Z, or 2h for the last two hours")
	_ = c.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(view.JobStates, cobra.ShellCompDirectiveNoFileComp))
}

// given says that a filter was given, even an empty one.
func (f *jobFilterFlags) given(c *cobra.Command) bool {
	return command.AnyGiven(c, "state", "kind", "name", "workflow", "schedule", "since")
}

// read makes the filter of the flags.
func (f *jobFilterFlags) read(now time.Time) (filter work.JobFilter, err error) {
	filter = f.JobFilter
	filter.Since, err = readSince(f.since, now)
	return filter, err
}

// readSince reads a time, or how long ago it was.
func readSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	ago, err := command.ReadTime(text, now)
	if err != nil {
		return ago, command.Invalid("", "--since: %s", err)
	}
	return now.Add(-ago.Sub(now)), nil
}

// jobCommand is a verb that changes one job, or those of a filter.
func jobCommand(e *command.Env, c *cobra.Command, action, did string, one func(ctx context.Context, s *app.Session, id weir.ID, in *work.DecidingJob) error) *cobra.Command {
	var f jobFilterFlags
	var ask command.BulkFlags
	order := bulk.Order{Action: action}
	c.Use, c.Long = action+" [ID]", c.Short+".\n\n"+command.BulkHelp
	c.Args = idOr(e, []string{"ID"}, func() bool { return f.given(c) })
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, args []string) error {
		if f.given(c) {
			filter, err := f.read(e.Output().Now)
			if err != nil {
				return err
			}
			return changeMany(ctx, e, command.Many{One: "job", Several: "jobs", Did: did}, order, ask, func(o bulk.Order) (bulk.Result, error) {
				out, err := work.ChangeJobs.Call(ctx, s.Operations, work.OrderJobs(filter, o))
				return out.Result, err
			})
		}
		if ask.DryRun {
			return command.Invalid("leave it out, or say which jobs by a filter", "--dry-run shows what a filter finds, and an id needs none")
		}
		id, err := FindJob(ctx, s, args[0])
		if err != nil {
			return err
		}
		return one(ctx, s, id, &work.DecidingJob{NamedJob: work.NamedJob{Job: id.String()}, Body: &op.DecisionBody{Reason: order.Reason}})
	})
	c.Flags().StringVar(&order.Reason, "reason", "", "why, for the timeline")
	f.register(c)
	ask.Register(c)
	return c
}
