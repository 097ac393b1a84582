package fleetcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/fleet"
)

// Fleet is the command weir fleet.
func Fleet(e *command.Env) *cobra.Command {
	return e.Noun("fleet", "Run jobs on devices that hang on PCs", []string{"fleets"},
		fleetInit(e), fleetRun(e), fleetList(e), fleetShow(e), fleetWatch(e), fleetWhy(e), fleetResults(e), fleetLog(e), fleetCancel(e), fleetRerun(e), fleetPolicy(e))
}

func fleetList(e *command.Env) *cobra.Command {
	return command.Lists(e, fleet.List, &cobra.Command{Example: "  weir fleet list --state active\n  weir fleet list --watch"}, fleetListing)
}

var fleetListing = command.Listing[fleet.Job]{
	Name:  func(j fleet.Job) string { return j.ID.String() },
	Empty: []string{"There are no fleet jobs yet.", "Begin with: weir fleet init, then weir fleet run fleet.yaml --watch"},
	Columns: []command.Column[fleet.Job]{
		{Title: "ID", Value: func(o *command.Output, j fleet.Job) string { return o.ID(j.ID) }},
		{Title: "STATE", Value: func(_ *command.Output, j fleet.Job) string { return j.State }, Paint: fleetColor},
		{Title: "NAME", Value: func(_ *command.Output, j fleet.Job) string { return j.Name }},
		{Title: "RUNS", Value: func(_ *command.Output, j fleet.Job) string {
			return fmt.Sprintf("%d/%d", endedUnits(j.Counts), j.Counts.Total)
		}},
		{Title: "RUNNING", Value: func(_ *command.Output, j fleet.Job) string { return fmt.Sprint(j.Counts.Running) }},
		{Title: "FAILED", Value: func(_ *command.Output, j fleet.Job) string { return fmt.Sprint(j.Counts.Failed) }},
		{Title: "MISSED", Value: func(_ *command.Output, j fleet.Job) string { return fmt.Sprint(j.Counts.Missed) }},
		{Title: "LANE", Wide: true, Value: func(_ *command.Output, j fleet.Job) string { return j.Lane }},
		{Title: "PRIORITY", Wide: true, Value: func(_ *command.Output, j fleet.Job) string { return fmt.Sprint(j.Priority) }},
		{Title: "SCHEDULE", Wide: true, Value: func(_ *command.Output, j fleet.Job) string { return j.Schedule }},
		{Title: "BY", Value: func(_ *command.Output, j fleet.Job) string { return j.By }},
		{Title: "CREATED", Ages: true, Value: func(o *command.Output, j fleet.Job) string { return o.Ago(j.CreatedAt) }},
		{Title: "NOTE", Value: func(o *command.Output, j fleet.Job) string { return fleetNote(o, j) }},
	},
}

// fleetNote is the one thing to know about a fleet job where it stands.
func fleetNote(o *command.Output, j fleet.Job) string {
	switch {
	case j.Stopped != "":
		return j.Stopped
	case j.Cause != "":
		return j.Cause
	case j.State == fleet.JobActive && j.MissedAt != nil:
		return "no device can serve the rest; it is missed in " + command.Span(j.MissedAt.Sub(o.Now))
	}
	return ""
}

// fleetColor is the colour of a state of a fleet job or of a unit.
func fleetColor(s string) string {
	switch s {
	case fleet.JobActive:
		return command.Blue
	case fleet.UnitWaiting, fleet.UnitRetrying, fleet.UnitMissed:
		return command.Yellow
	}
	return command.StateColor(s)
}

func endedUnits(c fleet.Counts) int { return c.Done + c.Failed + c.Missed + c.Canceled }

func unitCounts(c fleet.Counts) string {
	return command.EndedWords(endedUnits(c), c.Total, command.Count{N: c.Running, Word: "running"}, command.Count{N: c.Retrying, Word: "retrying"}, command.Count{N: c.Waiting, Word: "waiting"}, command.Count{N: c.Done, Word: "done"}, command.Count{N: c.Failed, Word: "failed"},
		command.Count{N: c.Missed, Word: "missed"}, command.Count{N: c.Canceled, Word: "canceled"})
}

// findFleet reads which fleet job is meant.
func findFleet(ctx context.Context, s *app.Session, text string) (weir.ID, error) {
	j, err := fleet.Show.Call(ctx, s.Operations, &fleet.Named{Job: text})
	return j.ID, err
}

// FleetIDs are those of fleet jobs.
var FleetIDs = command.Listed(fleet.List, func(j fleet.Job) (string, string) { return command.Short(j.ID), j.State + ": " + j.Name })

func fleetCancel(e *command.Env) *cobra.Command {
	c := &cobra.Command{Example: "  weir fleet cancel 8057b302099a --reason 'the build is broken'"}
	return command.Operation(e, fleet.Cancel, c, func(_ context.Context, _ *app.Session, _ *fleet.Decision, done fleet.Canceled) error {
		said := ": " + command.Plural(done.Canceled, "run is", "runs are") + " canceled"
		switch {
		case done.Requested > 0:
			said += fmt.Sprintf(", %d asked to stop", done.Requested)
		case done.Canceled == 0:
			said = " is canceled" // it waited, and had no runs yet
		}
		return e.Output().Did(done.ID.String(), done, "Fleet job %s%s.", command.Short(done.ID), said)
	})
}

func fleetWhy(e *command.Env) *cobra.Command {
	c := &cobra.Command{Use: "why ID", Short: "Say why a fleet job is not further: in one line, and device by device"}
	read := func(ctx context.Context, s *app.Session, text string) (fleet.Why, error) {
		return WhyFleet(ctx, s, text, 0)
	}
	return command.On(e, c, read, func(_ context.Context, o *command.Output, _ *app.Session, why fleet.Why) error {
		return PrintFleetWhy(o, why)
	})
}

// WhyFleet asks why a job is not further, for so many devices at most. Zero: as many as is usual.
func WhyFleet(ctx context.Context, s *app.Session, text string, most int) (fleet.Why, error) {
	return fleet.Explain.Call(ctx, s.Operations, &fleet.Asking{Named: fleet.Named{Job: text}, Limit: most})
}

// PrintFleetWhy says it in one line, then for each device that waits or was missed.
func PrintFleetWhy(o *command.Output, why fleet.Why) error {
	switch {
	case o.Data():
		return o.Value(why)
	case o.Format == "name":
		for _, d := range why.Devices {
			fmt.Fprintln(o.Out, command.Clean(d.Device))
		}
		return nil
	}
	fmt.Fprintf(o.Out, "Fleet job %s: %s.\n", command.Short(why.ID), command.Clean(why.Summary))
	if len(why.Devices) == 0 {
		return nil
	}
	return whyListing.Print(o, why.Devices)
}

var whyListing = command.Listing[fleet.WhyDevice]{
	Name: func(d fleet.WhyDevice) string { return d.Device },
	Columns: []command.Column[fleet.WhyDevice]{
		{Title: "DEVICE", Value: func(_ *command.Output, d fleet.WhyDevice) string { return d.Device }},
		{Title: "PC", Value: func(_ *command.Output, d fleet.WhyDevice) string { return d.PC }},
		{Title: "SERVED", Value: func(o *command.Output, d fleet.WhyDevice) string { return servedSaid(o, d.Answer, d.AnswerAt) }},
		{Title: "WHY", Value: func(_ *command.Output, d fleet.WhyDevice) string { return d.Why }},
	},
}
