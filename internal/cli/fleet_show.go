package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
)

// unitsPage is how many units are many.
const unitsPage = 1000

// fleetPage is everything about a fleet job.
type fleetPage struct {
	fleet.Job
	Units []fleet.Unit `json:"units"`
	// why is what it waits for, in one line.
	why string
}

func readFleetJob(ctx context.Context, s *app.Session, text string, f fleet.UnitFilter) (page fleetPage, err error) {
	if page.Job, err = fleet.Show.Call(ctx, s.Operations, &fleet.Named{Job: text}); err != nil {
		return page, err
	}
	units, err := op.Each(ctx, s.Operations, fleet.ListUnits, fleet.ListingUnits{Named: fleet.Named{Job: page.ID.String()}, UnitFilter: f})
	page.Units = append([]fleet.Unit{}, units...)
	return page, err
}

func (e *env) fleetShow() *cobra.Command {
	var f fleet.UnitFilter
	var watch bool
	c := &cobra.Command{
		Use: "show ID", Short: "Show a fleet job: what it runs, on which devices, and what became of each", Args: e.args("ID"),
		Example: "  weir fleet show 8057b302099a\n  weir fleet show nightly --state failed",
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			if err := oneOf("state", f.State, fleet.UnitStates); err != nil {
				return err
			}
			o := e.output()
			if watch {
				id, err := findFleet(ctx, s, args[0])
				if err != nil {
					return err
				}
				return watchFleet(ctx, o, s, id)
			}
			page, err := readFleetJob(ctx, s, args[0], f)
			if err != nil {
				return err
			}
			return o.show(page.ID.String(), page, func() error { return printFleet(o, page) })
		}),
	}
	c.Flags().StringVar(&f.State, "state", "", "only runs in this state: "+strings.Join(fleet.UnitStates, ", "))
	c.Flags().StringVar(&f.PC, "pc", "", "only runs on devices of this PC")
	c.Flags().StringVar(&f.Device, "device", "", "only runs on the device with this serial")
	c.Flags().BoolVarP(&watch, "watch", "w", false, "watch it until it has ended, as weir fleet watch does")
	_ = c.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(fleet.UnitStates, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func printFleet(o *output, p fleetPage) error {
	fields := []field{
		{"Fleet job", p.ID.String()},
		{"State", p.State},
		{"Name", p.Name},
		{"Note", fleetNote(o, p.Job)},
		{"Progress", progressText(p.Counts)},
		{"Runs", unitCounts(p.Counts)},
	}
	if p.Spec != nil {
		fields = append(fields, field{"Command", strings.Join(p.Spec.Run.Argv, " ")}, field{"Target", targetText(p.Spec.Target)}, field{"Rules", rulesText(*p.Spec)})
		fields = append(fields, ruleFields(*p.Spec)...)
	}
	fields = append(fields,
		field{"By", p.By},
		field{"Schedule", p.Schedule},
		field{"Created", o.both(p.CreatedAt)},
		field{"Active since", o.bothOf(p.ActivatedAt, "")},
		field{"Ended", o.bothOf(p.EndedAt, "")},
	)
	if err := o.details(fields); err != nil {
		return err
	}
	return unitListing.below(o, "", p.Units)
}

// progressText is how much of a job has ended. Empty: it has no runs yet.
func progressText(c fleet.Counts) string {
	if c.Total == 0 {
		return ""
	}
	return fmt.Sprintf("%s %.0f %%", bar(unitShare(c)), unitShare(c))
}

// targetText says on which devices.
func targetText(t fleet.Target) string {
	var parts []string
	if t.All {
		parts = append(parts, "all devices")
	}
	if t.Tag != "" {
		parts = append(parts, "tag "+t.Tag)
	}
	if len(t.Labels) > 0 {
		parts = append(parts, "labels "+labels(t.Labels))
	}
	if len(t.Devices) > 0 {
		parts = append(parts, plural(len(t.Devices), "device", "devices")+": "+cut(strings.Join(t.Devices, ", "), 120))
	}
	return strings.Join(parts, ", ")
}

// ruleFields are the rules for what goes wrong. What the spec leaves out has its
// default.
func ruleFields(s fleet.Spec) []field {
	infra := fleet.Infra{}
	if s.Infra != nil {
		infra = *s.Infra
	}
	broken := fmt.Sprintf("%s may be broken by cable, hub or PC", plural(cmp.Or(infra.Attempts, 3), "attempt", "attempts"))
	if len(infra.Exit) > 0 {
		codes := make([]string, len(infra.Exit))
		for i, code := range infra.Exit {
			codes[i] = strconv.Itoa(code)
		}
		broken += ", or end with exit code " + strings.Join(codes, ", ")
	}
	broken += "; the next is on " + map[string]string{
		fleet.PlaceSame: "the same device", fleet.PlaceOtherDevice: "another device", fleet.PlaceOtherPC: "another PC",
	}[cmp.Or(infra.Place, fleet.PlaceSame)]
	breaker := 5
	if s.Breaker != nil {
		breaker = *s.Breaker
	}
	stops := "never stopped as bad"
	if breaker > 0 {
		stops = fmt.Sprintf("stopped as bad when it failed on %s and more often than not", plural(breaker, "good device", "good devices"))
	}
	return []field{
		{"Backoff", "at most " + span(spanOr(s.Backoff, 10*time.Second)) + " before the second attempt, then twice as long"},
		{"Infra", broken},
		{"Breaker", stops},
		{"Linger", "waits " + span(spanOr(s.Linger, 2*time.Minute)) + " for devices that cannot serve it"},
	}
}

func spanOr(s *node.Span, usual time.Duration) time.Duration {
	if s == nil {
		return usual
	}
	return time.Duration(*s)
}

// rulesText says what of the rules is not as usual, and the usual ones that matter.
func rulesText(s fleet.Spec) string {
	timeout := cmp.Or(time.Duration(s.Timeout), 20*time.Minute)
	parts := []string{plural(cmp.Or(s.Attempts, 3), "attempt", "attempts"), "each at most " + span(timeout)}
	if s.Any > 0 {
		parts = append(parts, plural(s.Any, "run", "runs")+" on any devices")
	}
	if s.Repeat > 1 {
		parts = append(parts, fmt.Sprintf("%d rounds", s.Repeat))
	}
	if s.Join == fleet.JoinRunning {
		parts = append(parts, "new devices join while it runs")
	}
	if s.Priority != 0 {
		parts = append(parts, fmt.Sprintf("priority %d", s.Priority))
	}
	return strings.Join(parts, ", ")
}

var unitListing = listing[fleet.Unit]{
	name:  unitName,
	empty: []string{"No run matches."},
	columns: []column[fleet.Unit]{
		{title: "DEVICE", value: func(_ *output, u fleet.Unit) string { return unitName(u) }},
		{title: "PC", value: func(_ *output, u fleet.Unit) string { return u.PC }},
		{title: "STATE", value: func(_ *output, u fleet.Unit) string { return u.State }, paint: fleetColor},
		{title: "ATTEMPT", value: func(_ *output, u fleet.Unit) string {
			if u.Attempt == 0 {
				return ""
			}
			return fmt.Sprint(u.Attempt)
		}},
		{title: "INFRA", wide: true, value: func(_ *output, u fleet.Unit) string { return fmt.Sprint(u.Infra) }},
		{title: "TASK", narrow: true, value: func(_ *output, u fleet.Unit) string {
			if u.Task.IsZero() {
				return ""
			}
			return short(u.Task)
		}},
		{title: "TASK", wide: true, value: func(_ *output, u fleet.Unit) string { return idText(u.Task) }},
		{title: "STARTED", ages: true, value: func(o *output, u fleet.Unit) string { return o.agoOf(u.StartedAt) }},
		{title: "CAUSE", value: unitSaid},
	},
}

// unitName is the device of a unit, with its round if it is not the first.
func unitName(u fleet.Unit) string {
	name := u.Device
	if name == "" {
		name = fmt.Sprintf("any #%d", u.Unit)
	}
	if u.Round > 1 {
		name += fmt.Sprintf(" round %d", u.Round)
	}
	return name
}

// unitSaid is the one thing to know about a unit where it stands.
func unitSaid(o *output, u fleet.Unit) string {
	switch {
	case u.State == fleet.UnitRetrying && u.RetryAt != nil && u.RetryAt.After(o.now):
		return strings.TrimSuffix("again in "+span(u.RetryAt.Sub(o.now))+": "+u.Cause, ": ")
	case u.Cause != "":
		return u.Cause
	case u.State == fleet.UnitDone && u.StartedAt != nil && u.EndedAt != nil:
		return span(u.EndedAt.Sub(*u.StartedAt))
	}
	return ""
}
