package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// deviceVerb is a command on devices.
type deviceVerb struct {
	name, short, example, became string
	do                           *op.Op[*fleet.Store, fleet.DeviceDecision, fleet.DeviceChanged]
	// takes: it takes devices away, and what runs on them goes on. asks: a person is
	// asked first, also about a single device.
	takes, asks bool
}

var deviceVerbs = []deviceVerb{
	{
		name: "maintain", short: "Take devices out of the schedule for work on them", example: "weir device maintain R58M123ABC --reason 'new battery'\n  weir device maintain --pc PC-07 --reason 'new hub'",
		became: "in maintenance", do: fleet.Maintain, takes: true,
	},
	{
		name: "release", short: "Give devices back to the schedule; where there is a health task, they have to pass it first",
		example: "weir device release R58M123ABC R58M456DEF --reason 'cable replaced'\n  weir device release --pc PC-11 --health quarantined --reason 'hub replaced'", became: "released", do: fleet.Release,
	},
	{name: "quarantine", short: "Put devices out, as a run that failed for good does", example: "weir device quarantine R58M123ABC --reason 'screen is broken'", became: "quarantined", do: fleet.Quarantine, takes: true},
	{name: "retire", short: "Take devices out for good", example: "weir device retire R58M123ABC --reason 'sold'", became: "retired", do: fleet.Retire, takes: true, asks: true},
}

func (e *env) deviceCommands() (commands []*cobra.Command) {
	for _, v := range deviceVerbs {
		commands = append(commands, e.onDevices(v))
	}
	return commands
}

// deviceDid is what a command did to a device, as programs read it.
type deviceDid struct {
	Serial  string `json:"serial"`
	Changed bool   `json:"changed"`
}

// on does it to a device.
func (d *deviceOrder) on(ctx context.Context, s *app.Session, serial string) (fleet.DeviceChanged, error) {
	in := &fleet.DeviceDecision{NamedDevice: fleet.NamedDevice{Serial: serial}, Body: &op.DecisionBody{Reason: d.reason}}
	return d.do.Call(ctx, s.Operations, in)
}

// deviceOrder is a command as it was given.
type deviceOrder struct {
	deviceVerb
	filter fleet.DeviceFilter
	// filtered: the devices are those of the filter.
	filtered bool
	reason   string
	bulkFlags
}

// onDevices is a command on devices, by serial or by a filter. One that is refused
// keeps the others from nothing.
func (e *env) onDevices(v deviceVerb) *cobra.Command {
	d := deviceOrder{deviceVerb: v}
	c := &cobra.Command{Use: v.name + " [SERIAL…]", Short: v.short, Example: "  " + v.example, ValidArgsFunction: e.complete(deviceNames)}
	c.Long = v.short + `.

Without a serial it is done to all that match the filter: first it says how many those
are and asks. --yes does not ask, --dry-run only looks. The exit code is not 0 if some
were refused.`
	c.Args = func(cmd *cobra.Command, args []string) error {
		d.filtered = anyGiven(cmd, "pc", "health", "label")
		switch {
		case d.filtered && len(args) > 0:
			e.helpFor = cmd.CommandPath()
			return invalid("give one of them", "a serial and a filter: it is not clear which is meant")
		case !d.filtered && len(args) == 0:
			e.helpFor = cmd.CommandPath()
			return invalid("give a serial, or say which ones: "+cmd.CommandPath()+" --pc NAME", "SERIAL is missing")
		}
		return nil
	}
	c.RunE = e.session(func(ctx context.Context, s *app.Session, args []string) error {
		if d.filtered {
			return e.commandMatching(ctx, s, d)
		}
		return e.commandDevices(ctx, s, d, args)
	})
	flags := c.Flags()
	flags.StringVar(&d.reason, "reason", "", "why; it is kept with the device")
	deviceFilterFlags(c, &d.filter, "all")
	flags.BoolVar(&d.yes, "yes", false, "do not ask")
	flags.BoolVar(&d.dryRun, "dry-run", false, "with a filter: only say how many match, and show some")
	return c
}

// commandDevices does it to the devices that were named.
func (e *env) commandDevices(ctx context.Context, s *app.Session, d deviceOrder, serials []string) error {
	if d.dryRun {
		return invalid("leave it out, or say which devices by a filter", "--dry-run shows what a filter finds, and a serial needs none")
	}
	o := e.output()
	if _, nobody := e.asking("", ""); d.asks && !d.yes && nobody == nil {
		if err := e.sure(o, fmt.Sprintf("%s %s", title(d.name), clean(strings.Join(serials, ", ")))); err != nil {
			return err
		}
	}
	o.lines = len(serials) > 1
	var refused error
	for _, serial := range serials {
		out, err := d.on(ctx, s, serial)
		switch {
		case err != nil && len(serials) == 1:
			return err
		case err != nil:
			o.say("Device %s: %s", clean(serial), clean(problem.Explain(err).What))
			refused = quiet(problem.Explain(err).Kind)
			continue
		}
		said := "is " + d.became
		if !out.Changed {
			said = "was " + d.became + " already"
		}
		if err := o.did(clean(serial), deviceDid{serial, out.Changed}, "Device %s %s.", clean(serial), said); err != nil {
			return err
		}
		if d.takes && o.table() && !out.Device.Task.IsZero() {
			o.say("%s", goesOn(o, out.Device))
		}
	}
	return refused
}

// goesOn says that what runs on a device is not stopped.
func goesOn(o *output, d fleet.Device) string {
	text := fmt.Sprintf("What runs on it goes on (task %s", short(d.Task))
	if d.Deadline != nil {
		text += ", until " + o.both(*d.Deadline) + " at most"
	}
	return text + "), and its result counts."
}

// commandMatching does it to all devices that match, after it has asked.
func (e *env) commandMatching(ctx context.Context, s *app.Session, d deviceOrder) error {
	if err := oneOf("health", d.filter.Health, fleet.Healths); err != nil {
		return err
	}
	found, err := matching(ctx, s, d.filter)
	if err != nil {
		return err
	}
	o := e.output()
	m := many{"device", "devices", d.became}
	switch {
	case d.dryRun:
		return lookedDevices(o, m, found)
	case len(found) == 0:
		if o.table() {
			return o.did("", nil, "No device matches: nothing was done.")
		}
		return nil
	case !d.yes:
		for _, line := range deviceLines(found) {
			o.say("%s", line)
		}
		if err := e.sure(o, title(d.name)+" "+m.count(len(found))); err != nil {
			return err
		}
	}
	return commandFound(ctx, o, s, d, m, found)
}

// commandFound does it to each and sums up.
func commandFound(ctx context.Context, o *output, s *app.Session, d deviceOrder, m many, found []fleet.Device) error {
	o.lines = true
	changed, running := 0, 0
	var refusals []string
	var refused error
	for _, x := range found {
		out, err := d.on(ctx, s, x.Serial)
		if err != nil {
			if p := problem.Explain(err); p.Kind == problem.Invalid {
				return err // the reason is missing: it is so for all
			}
			refusals = append(refusals, fmt.Sprintf("  %s: %s", clean(x.Serial), clean(problem.Explain(err).What)))
			refused = quiet(problem.Explain(err).Kind)
			continue
		}
		if out.Changed {
			changed++
		}
		if !x.Task.IsZero() {
			running++
		}
		if !o.table() {
			if err := o.did(clean(x.Serial), deviceDid{x.Serial, out.Changed}, ""); err != nil {
				return err
			}
		}
	}
	if !o.table() {
		return refused
	}
	is := " are "
	if changed == 1 {
		is = " is "
	}
	said := m.count(changed) + is + m.did
	if already := len(found) - changed - len(refusals); already > 0 {
		said += fmt.Sprintf("; %d already", already)
	}
	if len(refusals) > 0 {
		said += fmt.Sprintf("; %d refused", len(refusals))
	}
	fmt.Fprintf(o.Out, "%s.\n", said)
	if d.takes && running > 0 {
		o.say("On %s something runs: that goes on, and its result counts.", m.count(running))
	}
	for _, line := range refusals[:min(len(refusals), refusalsShown)] {
		o.say("%s", line)
	}
	if more := len(refusals) - refusalsShown; more > 0 {
		o.say("  … and %d more", more)
	}
	return refused
}

// matching are all devices of a filter. Those that are retired are meant only by name.
func matching(ctx context.Context, s *app.Session, f fleet.DeviceFilter) ([]fleet.Device, error) {
	all, err := op.Each(ctx, s.Operations, fleet.ListDevices, fleet.ListingDevices{DeviceFilter: f})
	return slices.DeleteFunc(all, func(d fleet.Device) bool { return d.Health == fleet.HealthRetired && f.Health != fleet.HealthRetired }), err
}

func lookedDevices(o *output, m many, found []fleet.Device) error {
	if !o.table() {
		return deviceListing.print(o, found)
	}
	words := m.count(len(found)) + " match"
	if len(found) == 1 {
		words += "es"
	}
	_, err := fmt.Fprintln(o.Out, strings.Join(append([]string{words + "."}, deviceLines(found)...), "\n"))
	return err
}

// deviceLines show some of what was found.
func deviceLines(found []fleet.Device) []string {
	var lines []string
	for _, d := range found[:min(len(found), refusalsShown)] {
		lines = append(lines, fmt.Sprintf("  %s  %s  %s  %s", clean(d.Serial), clean(d.PC), presence(d), d.Health))
	}
	if len(found) > refusalsShown {
		lines = append(lines, "  …")
	}
	return lines
}

var deviceNames = listed(fleet.ListDevices, func(d fleet.Device) (string, string) { return d.Serial, d.PC + " " + presence(d) + " " + d.Health })
