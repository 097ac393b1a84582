package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
)

// diagnosis is what programs read.
type diagnosis struct {
	OK       bool           `json:"ok"`
	Warnings int            `json:"warnings"`
	Findings []view.Finding `json:"findings"`
}

func doctor(e *command.Env) *cobra.Command {
	c := &cobra.Command{
		Short: "Check every invariant of the database",
		Long: `Check every invariant of the database, and what an operator should look at.

The exit code is 1 if an invariant is broken. Findings about health are
warnings: nothing is lost, but somebody should look.`,
	}
	return command.Operation(e, work.Doctor, c, func(_ context.Context, _ *app.Session, _ *work.Examining, report work.DoctorReport) error {
		d := diagnosis{OK: true, Findings: report.Items}
		for _, f := range d.Findings {
			switch {
			case f.OK:
			case f.Level == "health":
				d.Warnings++
			default:
				d.OK = false
			}
		}
		if err := d.print(e.Output()); err != nil {
			return err
		}
		if !d.OK {
			return command.Quiet(problem.Failed)
		}
		return nil
	})
}

func (d diagnosis) print(o *command.Output) error {
	switch {
	case o.Data():
		return o.Value(d)
	case o.Format == "name":
		for _, f := range d.Findings {
			if !f.OK {
				fmt.Fprintln(o.Out, f.Name)
			}
		}
		return nil
	}
	broken := 0
	for _, f := range d.Findings {
		word, color := "ok", command.Green
		switch {
		case f.OK:
		case f.Level == "health":
			word, color = "warning", command.Yellow
		default:
			word, color = "broken", command.Red
			broken++
		}
		fmt.Fprintf(o.Out, "%s  %s\n", o.Paint(color, fmt.Sprintf("%-7s", word)), command.Clean(f.Name))
		if f.Detail != "" {
			fmt.Fprintf(o.Out, "         %s\n", command.Clean(f.Detail))
		}
	}
	switch {
	case broken > 0:
		fmt.Fprintf(o.Out, "\n%s: keep the database as it is and report this with the lines above.\n", o.Paint(command.Red, command.Plural(broken, "invariant is", "invariants are")+" broken"))
	case d.Warnings > 0:
		fmt.Fprintf(o.Out, "\nEvery invariant holds. %s to look at.\n", o.Paint(command.Yellow, command.Plural(d.Warnings, "warning", "warnings")))
	default:
		fmt.Fprintf(o.Out, "\n%s\n", o.Paint(command.Green, "All is well."))
	}
	return nil
}
