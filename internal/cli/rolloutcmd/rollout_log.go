package rolloutcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/target"
)

func rolloutLog(e *command.Env) *cobra.Command {
	var attempt int
	var sql bool
	c := &cobra.Command{
		Use: "log TASK", Short: "Show a run: its statements, what it waited for, who blocks whom", Args: e.Args("TASK"),
		Long: `Show a run of a task: each statement with its lines, how long it took, how many rows
it changed and how long it waited for its lock. While it runs, also its sessions in
the database and who blocks them.` + runHelp,
		Example: "  weir rollout log orders-2026-11/prod/orders-eu/7\n  weir rollout log 8057b302099a --attempt 1 -o json",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			if attempt < 0 {
				return command.Invalid("give 1 for the first; without it the newest is shown", "--attempt: %d is not an attempt", attempt)
			}
			of := rollout.OfRun{NamedTask: rollout.NamedTask{Task: args[0]}, Attempt: attempt}
			of.Typed()
			report, err := rollout.ShowRun.Call(ctx, s.Operations, &of)
			if err != nil {
				return err
			}
			o := e.Output()
			if sql {
				_, err := fmt.Fprintln(o.Out, strings.TrimRight(command.SourceText(o, report.SQL), "\n"))
				return err
			}
			return o.Show(report.Task.ID.String(), report, func() error { return printRun(o, report) })
		}),
	}
	c.Flags().IntVar(&attempt, "attempt", 0, "this attempt; default: the newest")
	c.Flags().BoolVar(&sql, "sql", false, "print the SQL of the change instead")
	return keyed(e, c)
}

func printRun(o *command.Output, r rollout.RunReport) error {
	t := r.Task
	fmt.Fprintf(o.Out, "Task %s (%s) is %s since %s.\n", command.Short(t.ID), command.Clean(t.Key), o.Paint(rolloutColor(t.Status), t.Status), o.Both(t.Since))
	if cause := runCause(o, t); cause != "" {
		fmt.Fprintf(o.Out, "  %s\n", command.Clean(cause))
	}
	if len(r.Attempts) == 0 {
		o.Say("It has not run yet.")
		return nil
	}
	fmt.Fprintln(o.Out)
	if err := attemptListing.Print(o, r.Attempts); err != nil {
		return err
	}
	o.Title(fmt.Sprintf("Attempt %d", r.Attempt))
	for _, l := range r.Log {
		fmt.Fprintf(o.Out, "  %s  %s\n", l.At.UTC().Format("15:04:05.000"), command.Clean(runText(l)))
	}
	for _, s := range r.Sessions {
		fmt.Fprintf(o.Out, "  session %d: %s\n", s.ID, command.Clean(sessionText(o, s)))
		for _, b := range s.BlockedBy {
			fmt.Fprintf(o.Out, "    %s %s\n", o.Paint(command.Red, "blocked by"), command.Clean(b.String()))
		}
		for _, b := range s.Blocks {
			fmt.Fprintf(o.Out, "    %s %s\n", o.Paint(command.Yellow, "blocks"), command.Clean(b.String()))
		}
	}
	if r.SessionsFault != "" {
		o.Say("Its sessions could not be read: %s", command.Clean(r.SessionsFault))
	}
	return nil
}

var attemptListing = command.Listing[rollout.Attempt]{
	Name: func(a rollout.Attempt) string { return fmt.Sprint(a.Attempt) },
	Columns: []command.Column[rollout.Attempt]{
		{Title: "ATTEMPT", Value: func(_ *command.Output, a rollout.Attempt) string { return fmt.Sprint(a.Attempt) }},
		{Title: "STATUS", Value: func(_ *command.Output, a rollout.Attempt) string { return a.Status }, Paint: rolloutColor},
		{Title: "PHASE", Value: func(_ *command.Output, a rollout.Attempt) string { return a.Phase }},
		{Title: "CODE", Value: func(_ *command.Output, a rollout.Attempt) string { return a.Code }},
		{Title: "STARTED", Ages: true, Value: func(o *command.Output, a rollout.Attempt) string { return o.Ago(a.StartedAt) }},
		{Title: "TOOK", Ages: true, Value: func(o *command.Output, a rollout.Attempt) string {
			if a.EndedAt == nil {
				return command.Span(o.Now.Sub(a.StartedAt))
			}
			return command.Span(a.EndedAt.Sub(a.StartedAt))
		}},
		{Title: "WORKER", Wide: true, Value: func(_ *command.Output, a rollout.Attempt) string { return a.Worker }},
		{Title: "RESOLVED BY", Wide: true, Value: func(_ *command.Output, a rollout.Attempt) string { return a.ResolvedBy }},
		{Title: "NOTE", Value: func(_ *command.Output, a rollout.Attempt) string { return a.Note }},
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
	text := fmt.Sprintf("%s  %s  %s", lines, s.Tag, command.Span(s.Took))
	if s.Rows > 0 {
		text += "  " + command.Plural(int(s.Rows), "row", "rows")
	}
	if s.Waited > 0 {
		text += "  waited " + command.Span(s.Waited) + " for its lock"
	}
	if s.Try > 1 {
		text += fmt.Sprintf("  try %d", s.Try)
	}
	for _, n := range s.Notices {
		text += "  · " + n
	}
	return text
}

func sessionText(o *command.Output, s target.Session) string {
	text := s.State
	if s.Wait != "" {
		text += ", waits for " + s.Wait
	}
	if !s.Since.IsZero() {
		text += ", since " + o.Ago(s.Since)
	}
	if s.Query != "" {
		text += ": " + s.Query
	}
	return text
}
