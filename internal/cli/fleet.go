package cli

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
)

func (e *env) fleet() *cobra.Command {
	return e.noun("fleet", "Run jobs on devices that hang on PCs", []string{"fleets"},
		e.fleetInit(), e.fleetRun(), e.fleetList(), e.fleetShow(), e.fleetWatch(), e.fleetWhy(), e.fleetLog(), e.fleetCancel(), e.fleetRerun(), e.fleetPolicy())
}

func (e *env) fleetList() *cobra.Command {
	var page view.Page
	var f fleet.JobFilter
	c := &cobra.Command{Short: "List fleet jobs, newest first", Example: "  weir fleet list --state active\n  weir fleet list --watch"}
	listCommand(e, c, func(ctx context.Context, s *app.Session, _ []string) (l list[fleet.Job], err error) {
		if err := oneOf("state", f.State, fleet.JobStates); err != nil {
			return l, err
		}
		if page.After != "" {
			id, err := s.Store.JobID(ctx, page.After)
			if err != nil {
				return l, err
			}
			page.After = id.String()
		}
		shown := fleetListing
		if f != (fleet.JobFilter{}) {
			shown.empty = []string{"No fleet job matches.", "See them all with: weir fleet list"}
		}
		l = plainList(page, shown, func(ctx context.Context, page view.Page) ([]fleet.Job, error) {
			return s.Fleets.Jobs(ctx, f, page)
		})
		l.after = func(j fleet.Job) string { return short(j.ID) }
		return l, nil
	})
	c.Flags().StringVar(&f.State, "state", "", "only jobs in this state: "+strings.Join(fleet.JobStates, ", "))
	c.Flags().StringVar(&f.Search, "search", "", "only jobs with this in their name")
	_ = c.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(fleet.JobStates, cobra.ShellCompDirectiveNoFileComp))
	pageFlags(c, &page, "id")
	return c
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

var idForm = regexp.MustCompile(`^[0-9a-fA-F-]{6,36}$`)

// findFleet reads which fleet job is meant: its id or the end of it, or its name, if
// one job alone that has not ended, or the newest of those that have, is called so.
func findFleet(ctx context.Context, s *app.Session, text string) (weir.ID, error) {
	if idForm.MatchString(text) {
		id, err := s.Store.JobID(ctx, text)
		if err == nil || !isMissing(err) {
			return id, err
		}
	}
	found, err := s.Fleets.Jobs(ctx, fleet.JobFilter{Search: text}, view.Page{Limit: 1000})
	if err != nil {
		return weir.ID{}, err
	}
	return named(found, text, "fleet job", "weir fleet list", func(j fleet.Job) called { return called{j.ID, j.Name, j.EndedAt != nil} })
}

func fleetIDs(ctx context.Context, s *app.Session) ([][2]string, error) {
	found, err := s.Fleets.Jobs(ctx, fleet.JobFilter{}, view.Page{Limit: completeMost})
	return pairs(found, err, func(j fleet.Job) (string, string) { return short(j.ID), j.State + ": " + j.Name })
}

func (e *env) fleetCancel() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "cancel ID", Short: "Cancel what is left of a fleet job; what runs is asked to stop", Args: e.args("ID"),
		Example: "  weir fleet cancel 8057b302099a --reason 'the build is broken'",
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			id, err := findFleet(ctx, s, args[0])
			if err != nil {
				return err
			}
			done, err := s.Fleets.Cancel(ctx, whoami(), id, reason)
			if err != nil {
				return err
			}
			said := ": " + plural(done.Canceled, "run is", "runs are") + " canceled"
			switch {
			case done.Requested > 0:
				said += fmt.Sprintf(", %d asked to stop", done.Requested)
			case done.Canceled == 0:
				said = " is canceled" // it waited, and had no runs yet
			}
			return e.output().did(id.String(), struct {
				ID weir.ID `json:"id"`
				fleet.Canceled
			}{id, done}, "Fleet job %s%s.", short(id), said)
		}),
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the timeline")
	return c
}

func (e *env) fleetWhy() *cobra.Command {
	return &cobra.Command{
		Use: "why ID", Short: "Say why a fleet job is not further: in one line, and device by device", Args: e.args("ID"),
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			id, err := findFleet(ctx, s, args[0])
			if err != nil {
				return err
			}
			return e.printFleetWhy(ctx, s, id)
		}),
	}
}

// printFleetWhy says it in one line, then for each device that waits or was missed.
func (e *env) printFleetWhy(ctx context.Context, s *app.Session, id weir.ID) error {
	why, err := s.Fleets.Why(ctx, id, 0)
	if err != nil {
		return err
	}
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
	fmt.Fprintf(o.Out, "Fleet job %s: %s.\n", short(id), clean(why.Summary))
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
