package fleetcmd

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/op"
)

// resultsPage is what the runs of a fleet job left.
type resultsPage struct {
	Job   weir.ID            `json:"job"`
	Runs  []fleet.Result     `json:"runs"`
	Cases []fleet.FailedCase `json:"cases"`
}

// casesMost is how many failed cases are shown.
const casesMost = 1000

func fleetResults(e *command.Env) *cobra.Command {
	var f fleet.UnitFilter
	var sheet bool
	c := &cobra.Command{
		Use: "results ID", Short: "Show what a fleet job left on each device: results, and the tests of its JUnit files",
		Args: e.Args("ID"),
		Long: `Show the runs of a fleet job in one table: what each printed as ::result, and the
counts of its JUnit files (artifacts called junit*.xml or TEST-*.xml); of several
attempts the last one that left such a file counts. Below are the cases that failed,
with the devices. With --csv it is one line per run and failed case.`,
		Example: "  weir fleet results nightly\n  weir fleet results nightly --state failed -o json\n  weir fleet results nightly --csv >nightly.csv",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			if err := command.OneOf("state", f.State, fleet.UnitStates); err != nil {
				return err
			}
			page, err := readResults(ctx, s, args[0], f)
			if err != nil {
				return err
			}
			if sheet {
				return writeSheet(e.Out, page.Runs)
			}
			o := e.Output()
			return o.Show(page.Job.String(), page, func() error { return printResults(o, page) })
		}),
	}
	flags := c.Flags()
	flags.StringVar(&f.State, "state", "", "only runs in this state: "+strings.Join(fleet.UnitStates, ", "))
	flags.StringVar(&f.PC, "pc", "", "only runs on devices of this PC")
	flags.StringVar(&f.Device, "device", "", "only runs on the device with this serial")
	flags.BoolVar(&sheet, "csv", false, "as comma-separated values")
	return c
}

func readResults(ctx context.Context, s *app.Session, text string, f fleet.UnitFilter) (page resultsPage, err error) {
	job, err := fleet.Show.Call(ctx, s.Operations, &fleet.Named{Job: text})
	if err != nil {
		return page, err
	}
	page.Job = job.ID
	named := fleet.Named{Job: job.ID.String()}
	runs, err := op.Each(ctx, s.Operations, fleet.ListResults, fleet.ListingUnits{Named: named, UnitFilter: f})
	if err != nil {
		return page, err
	}
	cases, err := fleet.ListCases.Call(ctx, s.Operations, &fleet.Asking{Named: named, Limit: casesMost})
	page.Runs, page.Cases = append([]fleet.Result{}, runs...), append([]fleet.FailedCase{}, cases.Items...)
	return page, err
}

func printResults(o *command.Output, page resultsPage) error {
	if err := resultListing.Print(o, page.Runs); err != nil {
		return err
	}
	return caseListing.Below(o, "Failed cases", page.Cases)
}

var resultListing = command.Listing[fleet.Result]{
	Name:  resultName,
	Empty: []string{"No run matches."},
	Columns: []command.Column[fleet.Result]{
		{Title: "DEVICE", Value: func(_ *command.Output, r fleet.Result) string { return resultName(r) }},
		{Title: "PC", Value: func(_ *command.Output, r fleet.Result) string { return r.PC }},
		{Title: "STATE", Value: func(_ *command.Output, r fleet.Result) string { return r.State }, Paint: fleetColor},
		{Title: "ATTEMPT", Wide: true, Value: func(_ *command.Output, r fleet.Result) string { return strconv.Itoa(r.Attempt) }},
		{Title: "TESTS", Value: func(_ *command.Output, r fleet.Result) string {
			return counted(r, func(t *fleet.Tests) int { return t.Tests })
		}},
		{Title: "FAILED", Value: func(_ *command.Output, r fleet.Result) string { return counted(r, failedTests) }},
		{Title: "SKIPPED", Value: func(_ *command.Output, r fleet.Result) string {
			return counted(r, func(t *fleet.Tests) int { return t.Skipped })
		}},
		{Title: "TIME", Value: func(_ *command.Output, r fleet.Result) string {
			if r.Tests == nil {
				return ""
			}
			return command.Span(time.Duration(r.Tests.Seconds * float64(time.Second)))
		}},
		{Title: "TASK", Wide: true, Value: func(o *command.Output, r fleet.Result) string { return o.ID(r.Task) }},
		{Title: "RESULT", Value: func(_ *command.Output, r fleet.Result) string { return resultText(r) }},
	},
}

func resultName(r fleet.Result) string {
	return unitName(fleet.Unit{Unit: r.Unit, Device: r.Device, Round: r.Round})
}

func failedTests(t *fleet.Tests) int { return t.Failures + t.Errors }

func counted(r fleet.Result, of func(*fleet.Tests) int) string {
	if r.Tests == nil {
		return ""
	}
	return strconv.Itoa(of(r.Tests))
}

// resultText is the result, or what went wrong, and which JUnit files were refused.
func resultText(r fleet.Result) string {
	said := r.Said()
	if len(r.Result) > 0 {
		said = command.Cut(said, 120)
	}
	if said != "" && r.Unread() != "" {
		said += "; "
	}
	return said + r.Unread()
}

var caseListing = command.Listing[fleet.FailedCase]{
	Name: caseName,
	Columns: []command.Column[fleet.FailedCase]{
		{Title: "CASE", Value: func(_ *command.Output, c fleet.FailedCase) string { return caseName(c) }},
		{Title: "DEVICES", Value: func(_ *command.Output, c fleet.FailedCase) string { return strconv.Itoa(c.Devices) }},
		{Title: "ON", Value: func(_ *command.Output, c fleet.FailedCase) string {
			on := command.Cut(strings.Join(c.On, ", "), 80)
			if more := c.Devices - len(c.On); more > 0 {
				on += fmt.Sprintf(" and %d more", more)
			}
			return on
		}},
		{Title: "MESSAGE", Value: func(_ *command.Output, c fleet.FailedCase) string { return command.Cut(c.Message, 120) }},
	},
}

func caseName(c fleet.FailedCase) string {
	if c.Suite == "" {
		return c.Name
	}
	return c.Suite + "." + c.Name
}

// writeSheet writes a line per run, and one per failed case below it.
func writeSheet(to io.Writer, runs []fleet.Result) error {
	w := csv.NewWriter(to)
	lines := [][]string{{
		"device", "pc", "round", "state", "attempt", "task", "tests", "failures", "errors", "skipped", "seconds", "result",
		"cause", "case", "message",
	}}
	for _, r := range runs {
		line := []string{
			r.Device, r.PC, strconv.Itoa(r.Round), r.State, strconv.Itoa(r.Attempt), command.IDText(r.Task), "", "", "", "", "",
			string(r.Result), r.Cause, "", "",
		}
		if t := r.Tests; t != nil {
			for i, n := range []int{t.Tests, t.Failures, t.Errors, t.Skipped} {
				line[6+i] = strconv.Itoa(n)
			}
			line[10] = strconv.FormatFloat(t.Seconds, 'f', -1, 64)
			if line[14] = t.Fault; t.Fault != "" {
				line[13] = "JUnit"
			}
		}
		lines = append(lines, line)
		if r.Tests == nil {
			continue
		}
		for _, c := range r.Tests.Failed {
			more := make([]string, len(line))
			copy(more, line[:6])
			more[13], more[14] = caseName(fleet.FailedCase{Suite: c.Suite, Name: c.Name}), c.Message
			lines = append(lines, more)
		}
	}
	if err := w.WriteAll(lines); err != nil {
		return err
	}
	return w.Error()
}
