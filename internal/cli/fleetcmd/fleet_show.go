package fleetcmd

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
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

func fleetShow(e *command.Env) *cobra.Command {
	var f fleet.UnitFilter
	var watch bool
	c := &cobra.Command{
		Use: "show ID", Short: "Show a fleet job: what it runs, on which devices, and what became of each", Args: e.Args("ID"),
		Example: "  weir fleet show 8057b302099a\n  weir fleet show nightly --state failed",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			if err := command.OneOf("state", f.State, fleet.UnitStates); err != nil {
				return err
			}
			o := e.Output()
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
			return o.Show(page.ID.String(), page, func() error { return printFleet(o, page) })
		}),
	}
	c.Flags().StringVar(&f.State, "state", "", "only runs in this state: "+strings.Join(fleet.UnitStates, ", "))
	c.Flags().StringVar(&f.PC, "pc", "", "only runs on devices of this PC")
	c.Flags().StringVar(&f.Device, "device", "", "only runs on the device with this serial")
	c.Flags().BoolVarP(&watch, "watch", "w", false, "watch it until it has ended, as weir fleet watch does")
	_ = c.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(fleet.UnitStates, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func printFleet(o *command.Output, p fleetPage) error {
	fields := []command.Field{
		{"Fleet job", p.ID.String()},
		{"State", p.State},
		{"Name", p.Name},
		{"Note", fleetNote(o, p.Job)},
		{"Progress", progressText(p.Counts)},
		{"Runs", unitCounts(p.Counts)},
	}
	if p.Spec != nil {
		fields = append(fields, command.Field{"Command", strings.Join(p.Spec.Run.Argv, " ")},
			command.Field{"Set-up", commandText(p.Spec.Setup)}, command.Field{"Clean-up", commandText(p.Spec.Cleanup)}, command.Field{"Target", targetText(p.Spec.Target)}, command.Field{"Rules", rulesText(*p.Spec)})
		fields = append(fields, ruleFields(*p.Spec)...)
	}
	fields = append(fields,
		command.Field{"By", p.By},
		command.Field{"Schedule", p.Schedule},
		command.Field{"Created", o.Both(p.CreatedAt)},
		command.Field{"Active since", o.BothOf(p.ActivatedAt, "")},
		command.Field{"Ended", o.BothOf(p.EndedAt, "")},
	)
	if err := o.Details(fields); err != nil {
		return err
	}
	return unitListing.Below(o, "", p.Units)
}

// progressText is how much of a job has ended. Empty: it has no runs yet.
func progressText(c fleet.Counts) string {
	if c.Total == 0 {
		return ""
	}
	return fmt.Sprintf("%s %.0f %%", command.Bar(unitShare(c)), unitShare(c))
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
		parts = append(parts, "labels "+command.Labels(t.Labels))
	}
	if len(t.Match) > 0 {
		parts = append(parts, strings.Join(t.Match, ", "))
	}
	if len(t.Devices) > 0 {
		parts = append(parts, command.Plural(len(t.Devices), "device", "devices")+": "+command.Cut(strings.Join(t.Devices, ", "), 120))
	}
	return strings.Join(parts, ", ")
}

// ruleFields are the rules for what goes wrong. What the spec leaves out has its
// default.
func ruleFields(s fleet.Spec) []command.Field {
	infra := fleet.Infra{}
	if s.Infra != nil {
		infra = *s.Infra
	}
	broken := fmt.Sprintf("%s may be broken by cable, hub or PC", command.Plural(cmp.Or(infra.Attempts, 3), "attempt", "attempts"))
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
	stops := "stopped as bad when it failed on half of its good devices, 2 to 5, and more often than not"
	if s.Breaker != nil {
		stops = fmt.Sprintf("stopped as bad when it failed on %s and more often than not", command.Plural(*s.Breaker, "good device", "good devices"))
		if *s.Breaker == 0 {
			stops = "never stopped as bad"
		}
	}
	return []command.Field{
		{"Backoff", "at most " + command.Span(spanOr(s.Backoff, 10*time.Second)) + " before the second attempt, then twice as long"},
		{"Infra", broken},
		{"Breaker", stops},
		{"Linger", "waits " + command.Span(spanOr(s.Linger, 2*time.Minute)) + " for devices that cannot serve it"},
	}
}

func spanOr(s *node.Span, usual time.Duration) time.Duration {
	if s == nil {
		return usual
	}
	return time.Duration(*s)
}

// commandText is a command before or after a run. Empty: there is none.
func commandText(c *node.Command) string {
	if c == nil {
		return ""
	}
	return strings.Join(c.Argv, " ") + ", at most " + command.Span(c.Limit())
}

// rulesText says what of the rules is not as usual, and the usual ones that matter.
func rulesText(s fleet.Spec) string {
	timeout := cmp.Or(time.Duration(s.Timeout), 20*time.Minute)
	parts := []string{command.Plural(cmp.Or(s.Attempts, 3), "attempt", "attempts"), "each at most " + command.Span(timeout)}
	if s.Any > 0 {
		parts = append(parts, command.Plural(s.Any, "run", "runs")+" on any devices")
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
	if s.Lane != "" {
		parts = append(parts, "lane "+s.Lane)
	}
	return strings.Join(parts, ", ")
}

var unitListing = command.Listing[fleet.Unit]{
	Name:  unitName,
	Empty: []string{"No run matches."},
	Columns: []command.Column[fleet.Unit]{
		{Title: "DEVICE", Value: func(_ *command.Output, u fleet.Unit) string { return unitName(u) }},
		{Title: "PC", Value: func(_ *command.Output, u fleet.Unit) string { return u.PC }},
		{Title: "STATE", Value: func(_ *command.Output, u fleet.Unit) string { return u.State }, Paint: fleetColor},
		{Title: "ATTEMPT", Value: func(_ *command.Output, u fleet.Unit) string {
			if u.Attempt == 0 {
				return ""
			}
			return fmt.Sprint(u.Attempt)
		}},
		{Title: "INFRA", Wide: true, Value: func(_ *command.Output, u fleet.Unit) string { return fmt.Sprint(u.Infra) }},
		{Title: "TASK", Value: func(o *command.Output, u fleet.Unit) string { return o.ID(u.Task) }},
		{Title: "STARTED", Ages: true, Value: func(o *command.Output, u fleet.Unit) string { return o.AgoOf(u.StartedAt) }},
		{Title: "CAUSE", Value: unitSaid},
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
func unitSaid(o *command.Output, u fleet.Unit) string {
	switch {
	case u.State == fleet.UnitRetrying && u.RetryAt != nil && u.RetryAt.After(o.Now):
		return strings.TrimSuffix("again in "+command.Span(u.RetryAt.Sub(o.Now))+": "+u.Cause, ": ")
	case u.Cause != "":
		return u.Cause
	case u.State == fleet.UnitDone && u.StartedAt != nil && u.EndedAt != nil:
		return command.Span(u.EndedAt.Sub(*u.StartedAt))
	}
	return ""
}
