package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/fleet"
)

func (e *env) fleet() *cobra.Command {
	return e.noun("fleet", "Run jobs on devices that hang on PCs", []string{"fleets"},
		e.fleetInit(), e.fleetRun(), e.fleetList(), e.fleetShow(), e.fleetWatch(), e.fleetWhy(), e.fleetLog(), e.fleetCancel(), e.fleetRerun(), e.fleetPolicy())
}

func (e *env) fleetList() *cobra.Command {
	return lists(e, fleet.List, &cobra.Command{Example: "  weir fleet list --state active\n  weir fleet list --watch"}, fleetListing)
}

var fleetListing = listing[fleet.Job]{
	name:  func(j fleet.Job) string { return j.ID.String() },
	empty: []string{"There are no fleet jobs yet.", "Begin with: weir fleet init, then weir fleet run fleet.yaml --watch"},
	columns: []column[fleet.Job]{
		{title: "ID", narrow: true, value: func(_ *output, j fleet.Job) string { return short(j.ID) }},
		{title: "ID", wide: true, value: func(_ *output, j fleet.Job) string { return j.ID.String() }},
		{title: "STATE", value: func(_ *output, j fleet.Job) string { return j.State }, paint: fleetColor},
		{title: "NAME", value: func(_ *output, j fleet.Job) string { return j.Name }},
		{title: "RUNS", value: func(_ *output, j fleet.Job) string { return fmt.Sprintf("%d/%d", endedUnits(j.Counts), j.Counts.Total) }},
		{title: "RUNNING", value: func(_ *output, j fleet.Job) string { return fmt.Sprint(j.Counts.Running) }},
		{title: "FAILED", value: func(_ *output, j fleet.Job) string { return fmt.Sprint(j.Counts.Failed) }},
		{title: "MISSED", value: func(_ *output, j fleet.Job) string { return fmt.Sprint(j.Counts.Missed) }},
		{title: "PRIORITY", wide: true, value: func(_ *output, j fleet.Job) string { return fmt.Sprint(j.Priority) }},
		{title: "SCHEDULE", wide: true, value: func(_ *output, j fleet.Job) string { return j.Schedule }},
		{title: "BY", value: func(_ *output, j fleet.Job) string { return j.By }},
		{title: "CREATED", ages: true, value: func(o *output, j fleet.Job) string { return o.ago(j.CreatedAt) }},
		{title: "NOTE", value: func(o *output, j fleet.Job) string { return fleetNote(o, j) }},
	},
}

// fleetNote is the one thing to know about a fleet job where it stands.
func fleetNote(o *output, j fleet.Job) string {
	switch {
	case j.Stopped != "":
		return j.Stopped
	case j.Cause != "":
		return j.Cause
	case j.State == fleet.JobActive && j.MissedAt != nil:
		return "no device can serve the rest; it is missed in " + span(j.MissedAt.Sub(o.now))
	}
	return ""
}

// fleetColor is the colour of a state of a fleet job or of a unit.
func fleetColor(s string) string {
	switch s {
	case fleet.JobActive:
		return blue
	case fleet.UnitWaiting, fleet.UnitRetrying, fleet.UnitMissed:
		return yellow
	}
	return stateColor(s)
}

func endedUnits(c fleet.Counts) int { return c.Done + c.Failed + c.Missed + c.Canceled }

func unitCounts(c fleet.Counts) string {
	return endedWords(endedUnits(c), c.Total, count{c.Running, "running"}, count{c.Retrying, "retrying"}, count{c.Waiting, "waiting"}, count{c.Done, "done"}, count{c.Failed, "failed"},
		count{c.Missed, "missed"}, count{c.Canceled, "canceled"})
}

// findFleet reads which fleet job is meant.
func findFleet(ctx context.Context, s *app.Session, text string) (weir.ID, error) {
	j, err := fleet.Show.Call(ctx, s.Operations, &fleet.Named{Job: text})
	return j.ID, err
}

var fleetIDs = listed(fleet.List, func(j fleet.Job) (string, string) { return short(j.ID), j.State + ": " + j.Name })

func (e *env) fleetCancel() *cobra.Command {
	c := &cobra.Command{Example: "  weir fleet cancel 8057b302099a --reason 'the build is broken'"}
	return operation(e, fleet.Cancel, c, func(_ context.Context, _ *app.Session, _ *fleet.Decision, done fleet.Canceled) error {
		said := ": " + plural(done.Canceled, "run is", "runs are") + " canceled"
		switch {
		case done.Requested > 0:
			said += fmt.Sprintf(", %d asked to stop", done.Requested)
		case done.Canceled == 0:
			said = " is canceled" // it waited, and had no runs yet
		}
		return e.output().did(done.ID.String(), done, "Fleet job %s%s.", short(done.ID), said)
	})
}

func (e *env) fleetWhy() *cobra.Command {
	return &cobra.Command{
		Use: "why ID", Short: "Say why a fleet job is not further: in one line, and device by device", Args: e.args("ID"),
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			why, err := whyFleet(ctx, s, args[0], 0)
			if err != nil {
				return err
			}
			return e.printFleetWhy(why)
		}),
	}
}

// whyFleet asks why a job is not further, for so many devices at most. Zero: as many as is usual.
func whyFleet(ctx context.Context, s *app.Session, text string, most int) (fleet.Why, error) {
	return fleet.Explain.Call(ctx, s.Operations, &fleet.Asking{Named: fleet.Named{Job: text}, Limit: most})
}

// printFleetWhy says it in one line, then for each device that waits or was missed.
func (e *env) printFleetWhy(why fleet.Why) error {
	o := e.output()
	switch {
	case o.data():
		return o.value(why)
	case o.format == "name":
		for _, d := range why.Devices {
			fmt.Fprintln(o.Out, clean(d.Device))
		}
		return nil
	}
	fmt.Fprintf(o.Out, "Fleet job %s: %s.\n", short(why.ID), clean(why.Summary))
	if len(why.Devices) == 0 {
		return nil
	}
	return whyListing.print(o, why.Devices)
}

var whyListing = listing[fleet.WhyDevice]{
	name: func(d fleet.WhyDevice) string { return d.Device },
	columns: []column[fleet.WhyDevice]{
		{title: "DEVICE", value: func(_ *output, d fleet.WhyDevice) string { return d.Device }},
		{title: "PC", value: func(_ *output, d fleet.WhyDevice) string { return d.PC }},
		{title: "WHY", value: func(_ *output, d fleet.WhyDevice) string { return d.Why }},
	},
}
