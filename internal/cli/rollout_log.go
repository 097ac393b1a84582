package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/target"
)

func (e *env) rolloutLog() *cobra.Command {
	var attempt int
	var sql bool
	c := &cobra.Command{
		Use: "log TASK", Short: "Show a run: its statements, what it waited for, who blocks whom", Args: e.args("TASK"),
		Long: `Show a run of a task: each statement with its lines, how long it took, how many rows
it changed and how long it waited for its lock. While it runs, also its sessions in
the database and who blocks them.` + runHelp,
		Example: "  weir rollout log orders-2026-11/prod/orders-eu/7\n  weir rollout log 8057b302099a --attempt 1 -o json",
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			if attempt < 0 {
				return invalid("give 1 for the first; without it the newest is shown", "--attempt: %d is not an attempt", attempt)
			}
			of := rollout.OfRun{NamedTask: rollout.NamedTask{Task: args[0]}, Attempt: attempt}
			of.Typed()
			report, err := rollout.ShowRun.Call(ctx, s.Operations, &of)
			if err != nil {
				return err
			}
			o := e.output()
			if sql {
				_, err := fmt.Fprintln(o.Out, strings.TrimRight(sourceText(o, report.SQL), "\n"))
				return err
			}
			return o.show(report.Task.ID.String(), report, func() error { return printRun(o, report) })
		}),
	}
	c.Flags().IntVar(&attempt, "attempt", 0, "this attempt; default: the newest")
	c.Flags().BoolVar(&sql, "sql", false, "print the SQL of the change instead")
	return e.keyed(c)
}

func printRun(o *output, r rollout.RunReport) error {
	t := r.Task
	fmt.Fprintf(o.Out, "Task %s (%s) is %s since %s.\n", short(t.ID), clean(t.Key), o.paint(rolloutColor(t.Status), t.Status), o.both(t.Since))
	if cause := runCause(o, t); cause != "" {
		fmt.Fprintf(o.Out, "  %s\n", clean(cause))
	}
	if len(r.Attempts) == 0 {
		o.say("It has not run yet.")
		return nil
	}
	fmt.Fprintln(o.Out)
	if err := attemptListing.print(o, r.Attempts); err != nil {
		return err
	}
	o.title(fmt.Sprintf("Attempt %d", r.Attempt))
	for _, l := range r.Log {
		fmt.Fprintf(o.Out, "  %s  %s\n", l.At.UTC().Format("15:04:05.000"), clean(runText(l)))
	}
	for _, s := range r.Sessions {
		fmt.Fprintf(o.Out, "  session %d: %s\n", s.ID, clean(sessionText(o, s)))
		for _, b := range s.BlockedBy {
			fmt.Fprintf(o.Out, "    %s %s\n", o.paint(red, "blocked by"), clean(b.String()))
		}
		for _, b := range s.Blocks {
			fmt.Fprintf(o.Out, "    %s %s\n", o.paint(yellow, "blocks"), clean(b.String()))
		}
	}
	if r.SessionsFault != "" {
		o.say("Its sessions could not be read: %s", clean(r.SessionsFault))
	}
	return nil
}

var attemptListing = listing[rollout.Attempt]{
	name: func(a rollout.Attempt) string { return fmt.Sprint(a.Attempt) },
	columns: []column[rollout.Attempt]{
		{title: "ATTEMPT", value: func(_ *output, a rollout.Attempt) string { return fmt.Sprint(a.Attempt) }},
		{title: "STATUS", value: func(_ *output, a rollout.Attempt) string { return a.Status }, paint: rolloutColor},
		{title: "PHASE", value: func(_ *output, a rollout.Attempt) string { return a.Phase }},
		{title: "CODE", value: func(_ *output, a rollout.Attempt) string { return a.Code }},
		{title: "STARTED", ages: true, value: func(o *output, a rollout.Attempt) string { return o.ago(a.StartedAt) }},
		{title: "TOOK", ages: true, value: func(o *output, a rollout.Attempt) string {
			if a.EndedAt == nil {
				return span(o.now.Sub(a.StartedAt))
			}
			return span(a.EndedAt.Sub(a.StartedAt))
		}},
		{title: "WORKER", wide: true, value: func(_ *output, a rollout.Attempt) string { return a.Worker }},
		{title: "RESOLVED BY", wide: true, value: func(_ *output, a rollout.Attempt) string { return a.ResolvedBy }},
		{title: "NOTE", value: func(_ *output, a rollout.Attempt) string { return a.Note }},
	},
}

// runText is a line of a run's log as people read it.
func runText(l rollout.LogLine) string {
	if l.Statement == nil {
		return strings.TrimSuffix(l.Type+": "+l.Message, ": ")
	}
	s := l.Statement
	lines := fmt.Sprintf("line %d", s.Line)
	if s.EndLine > s.Line {
		lines = fmt.Sprintf("lines %d–%d", s.Line, s.EndLine)
	}
	if s.Skipped != "" {
		return fmt.Sprintf("%s  %s  skipped: %s", lines, s.Tag, s.Skipped)
	}
	text := fmt.Sprintf("%s  %s  %s", lines, s.Tag, span(s.Took))
	if s.Rows > 0 {
		text += "  " + plural(int(s.Rows), "row", "rows")
	}
	if s.Waited > 0 {
		text += "  waited " + span(s.Waited) + " for its lock"
	}
	if s.Try > 1 {
		text += fmt.Sprintf("  try %d", s.Try)
	}
	for _, n := range s.Notices {
		text += "  · " + n
	}
	return text
}

func sessionText(o *output, s target.Session) string {
	text := s.State
	if s.Wait != "" {
		text += ", waits for " + s.Wait
	}
	if !s.Since.IsZero() {
		text += ", since " + o.ago(s.Since)
	}
	if s.Query != "" {
		text += ": " + s.Query
	}
	return text
}
