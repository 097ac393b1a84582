package fleetcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// deviceVerb is a command on devices.
type deviceVerb struct {
	name, short, example, became string
	do                           func(context.Context, op.Caller, *deviceOrder, string) (fleet.DeviceChanged, error)
	// takes: it takes devices away, and what runs on them goes on. asks: a person is
	// asked first, also about a single device.
	takes, asks bool
	// ends: it may end by itself. must: and has to.
	ends, must bool
}

// decides is a verb that takes a reason alone.
func decides(
	o *op.Op[*fleet.Store, fleet.DeviceDecision, fleet.DeviceChanged],
) func(context.Context, op.Caller, *deviceOrder, string) (fleet.DeviceChanged, error) {
	return func(ctx context.Context, c op.Caller, d *deviceOrder, serial string) (fleet.DeviceChanged, error) {
		in := &fleet.DeviceDecision{NamedDevice: fleet.NamedDevice{Serial: serial}, Body: &op.DecisionBody{Reason: d.reason}}
		return o.Call(ctx, c, in)
	}
}

func maintains(ctx context.Context, c op.Caller, d *deviceOrder, serial string) (fleet.DeviceChanged, error) {
	return fleet.Maintain.Call(ctx, c, &fleet.DeviceMaintenance{
		NamedDevice: fleet.NamedDevice{Serial: serial}, Body: &fleet.MaintenanceBody{Reason: d.reason, Until: d.end},
	})
}

func reserves(ctx context.Context, c op.Caller, d *deviceOrder, serial string) (fleet.DeviceChanged, error) {
	return fleet.Reserve.Call(ctx, c, &fleet.DeviceReservation{
		NamedDevice: fleet.NamedDevice{Serial: serial}, Body: fleet.ReservationBody{Until: d.end, Reason: d.reason},
	})
}

var deviceVerbs = []deviceVerb{
	{
		name: "maintain", short: "Take devices out of the schedule for work on them", example: "weir device maintain R58M123ABC --reason 'new battery'\n  weir device maintain --pc PC-07 --until 2h --reason 'new hub'",
		became: "in maintenance", do: maintains, takes: true, ends: true,
	},
	{
		name: "reserve", short: "Reserve devices for yourself until a time; they get no work meanwhile",
		example: "weir device reserve R58M123ABC --until 2h --reason 'a crash in the camera'", became: "reserved", do: reserves,
		takes: true, ends: true, must: true,
	},
	{
		name: "release", short: "Give devices back to the schedule, from a reservation too; where there is a health task, those that were out have to pass it first",
		example: "weir device release R58M123ABC R58M456DEF --reason 'cable replaced'\n  weir device release --pc PC-11 --health quarantined --reason 'hub replaced'", became: "released", do: decides(fleet.Release),
	},
	{name: "quarantine", short: "Put devices out, as a run that failed for good does", example: "weir device quarantine R58M123ABC --reason 'screen is broken'", became: "quarantined", do: decides(fleet.Quarantine), takes: true},
	{name: "retire", short: "Take devices out for good", example: "weir device retire R58M123ABC --reason 'sold'", became: "retired", do: decides(fleet.Retire), takes: true, asks: true},
}

func deviceCommands(e *command.Env) (commands []*cobra.Command) {
	for _, v := range deviceVerbs {
		commands = append(commands, onDevices(e, v))
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
	return d.do(ctx, s.Operations, d, serial)
}

// deviceOrder is a command as it was given.
type deviceOrder struct {
	deviceVerb
	filter fleet.DeviceFilter
	// filtered: the devices are those of the filter.
	filtered bool
	reason   string
	// until as it was typed, end as it was understood.
	until string
	end   time.Time
	command.BulkFlags
}

// onDevices is a command on devices, by serial or by a filter. One that is refused
// keeps the others from nothing.
func onDevices(e *command.Env, v deviceVerb) *cobra.Command {
	d := deviceOrder{deviceVerb: v}
	c := &cobra.Command{Use: v.name + " [SERIAL…]", Short: v.short, Example: "  " + v.example, ValidArgsFunction: e.Complete(DeviceNames)}
	c.Long = v.short + `.

Without a serial it is done to all that match the filter: first it says how many those
are and asks. --yes does not ask, --dry-run only looks. The exit code is not 0 if some
were refused.`
	c.Args = func(cmd *cobra.Command, args []string) error {
		d.filtered = command.AnyGiven(cmd, "pc", "health", "label")
		switch {
		case d.filtered && len(args) > 0:
			e.HelpFor = cmd.CommandPath()
			return command.Invalid("give one of them", "a serial and a filter: it is not clear which is meant")
		case !d.filtered && len(args) == 0:
			e.HelpFor = cmd.CommandPath()
			return command.Invalid("give a serial, or say which ones: "+cmd.CommandPath()+" --pc NAME", "SERIAL is missing")
		}
		return nil
	}
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, args []string) error {
		if err := d.readEnd(e.Output().Now); err != nil {
			return err
		}
		if d.filtered {
			return commandMatching(ctx, e, s, d)
		}
		return commandDevices(ctx, e, s, d, args)
	})
	flags := c.Flags()
	flags.StringVar(&d.reason, "reason", "", "why; it is kept with the device")
	if v.ends {
		flags.StringVar(&d.until, "until", "", "end it by itself at this `time`, or after a duration")
	}
	deviceFilterFlags(c, &d.filter, "all")
	flags.BoolVar(&d.Yes, "yes", false, "do not ask")
	flags.BoolVar(&d.DryRun, "dry-run", false, "with a filter: only say how many match, and show some")
	return c
}

// readEnd understands --until.
func (d *deviceOrder) readEnd(now time.Time) (err error) {
	switch {
	case d.until == "" && d.must:
		return command.Invalid("say how long: --until 2h", "--until is missing")
	case d.until == "":
		return nil
	}
	if d.end, err = command.ReadTime(d.until, now); err != nil {
		return command.Invalid("", "--until: %s", err)
	}
	if !d.end.After(now) {
		return command.Invalid("give a time to come, or a duration such as 10m", "--until: %s is past", command.Exact(d.end))
	}
	return nil
}

// commandDevices does it to the devices that were named.
func commandDevices(ctx context.Context, e *command.Env, s *app.Session, d deviceOrder, serials []string) error {
	if d.DryRun {
		return command.Invalid("leave it out, or say which devices by a filter", "--dry-run shows what a filter finds, and a serial needs none")
	}
	o := e.Output()
	if _, nobody := e.Asking("", ""); d.asks && !d.Yes && nobody == nil {
		if err := e.Sure(o, fmt.Sprintf("%s %s", command.Title(d.name), command.Clean(strings.Join(serials, ", ")))); err != nil {
			return err
		}
	}
	o.Lines = len(serials) > 1
	var refused error
	for _, serial := range serials {
		out, err := d.on(ctx, s, serial)
		switch {
		case err != nil && len(serials) == 1:
			return err
		case err != nil:
			o.Say("Device %s: %s", command.Clean(serial), command.Clean(problem.Explain(err).What))
			refused = command.Quiet(problem.Explain(err).Kind)
			continue
		}
		said := "is " + d.became
		if !out.Changed {
			said = "was " + d.became + " already"
		}
		if !d.end.IsZero() {
			said += " until " + o.Both(d.end)
		}
		if err := o.Did(command.Clean(serial), deviceDid{serial, out.Changed}, "Device %s %s.", command.Clean(serial), said); err != nil {
			return err
		}
		if d.takes && o.Table() && !out.Device.Task.IsZero() {
			o.Say("%s", goesOn(o, out.Device))
		}
	}
	return refused
}

// goesOn says that what runs on a device is not stopped.
func goesOn(o *command.Output, d fleet.Device) string {
	text := fmt.Sprintf("What runs on it goes on (task %s", command.Short(d.Task))
	if d.Deadline != nil {
		text += ", until " + o.Both(*d.Deadline) + " at most"
	}
	return text + "), and its result counts."
}

// commandMatching does it to all devices that match, after it has asked.
func commandMatching(ctx context.Context, e *command.Env, s *app.Session, d deviceOrder) error {
	if err := command.OneOf("health", d.filter.Health, fleet.Healths); err != nil {
		return err
	}
	found, err := matching(ctx, s, d.filter)
	if err != nil {
		return err
	}
	o := e.Output()
	m := command.Many{One: "device", Several: "devices", Did: d.became}
	switch {
	case d.DryRun:
		return lookedDevices(o, m, found)
	case len(found) == 0:
		if o.Table() {
			return o.Did("", nil, "No device matches: nothing was done.")
		}
		return nil
	case !d.Yes:
		for _, line := range deviceLines(found) {
			o.Say("%s", line)
		}
		if err := e.Sure(o, command.Title(d.name)+" "+m.Count(len(found))); err != nil {
			return err
		}
	}
	return commandFound(ctx, o, s, d, m, found)
}

// commandFound does it to each and sums up.
func commandFound(ctx context.Context, o *command.Output, s *app.Session, d deviceOrder, m command.Many, found []fleet.Device) error {
	o.Lines = true
	changed, running := 0, 0
	var refusals []string
	var refused error
	for _, x := range found {
		out, err := d.on(ctx, s, x.Serial)
		if err != nil {
			if p := problem.Explain(err); p.Kind == problem.Invalid {
				return err // the reason is missing: it is so for all
			}
			refusals = append(refusals, fmt.Sprintf("  %s: %s", command.Clean(x.Serial), command.Clean(problem.Explain(err).What)))
			refused = command.Quiet(problem.Explain(err).Kind)
			continue
		}
		if out.Changed {
			changed++
		}
		if !x.Task.IsZero() {
			running++
		}
		if !o.Table() {
			if err := o.Did(command.Clean(x.Serial), deviceDid{x.Serial, out.Changed}, ""); err != nil {
				return err
			}
		}
	}
	if !o.Table() {
		return refused
	}
	is := " are "
	if changed == 1 {
		is = " is "
	}
	said := m.Count(changed) + is + m.Did
	if already := len(found) - changed - len(refusals); already > 0 {
		said += fmt.Sprintf("; %d already", already)
	}
	if len(refusals) > 0 {
		said += fmt.Sprintf("; %d refused", len(refusals))
	}
	fmt.Fprintf(o.Out, "%s.\n", said)
	if d.takes && running > 0 {
		o.Say("On %s something runs: that goes on, and its result counts.", m.Count(running))
	}
	for _, line := range refusals[:min(len(refusals), command.RefusalsShown)] {
		o.Say("%s", line)
	}
	if more := len(refusals) - command.RefusalsShown; more > 0 {
		o.Say("  … and %d more", more)
	}
	return refused
}

// matching are all devices of a filter. Those that are retired are meant only by name.
func matching(ctx context.Context, s *app.Session, f fleet.DeviceFilter) ([]fleet.Device, error) {
	all, err := op.Each(ctx, s.Operations, fleet.ListDevices, fleet.ListingDevices{DeviceFilter: f})
	return slices.DeleteFunc(all, func(d fleet.Device) bool { return d.Health == fleet.HealthRetired && f.Health != fleet.HealthRetired }), err
}

func lookedDevices(o *command.Output, m command.Many, found []fleet.Device) error {
	if !o.Table() {
		return deviceListing.Print(o, found)
	}
	words := m.Count(len(found)) + " match"
	if len(found) == 1 {
		words += "es"
	}
	_, err := fmt.Fprintln(o.Out, strings.Join(append([]string{words + "."}, deviceLines(found)...), "\n"))
	return err
}

// deviceLines show some of what was found.
func deviceLines(found []fleet.Device) []string {
	var lines []string
	for _, d := range found[:min(len(found), command.RefusalsShown)] {
		lines = append(lines, fmt.Sprintf("  %s  %s  %s  %s", command.Clean(d.Serial), command.Clean(d.PC), presence(d), d.Health))
	}
	if len(found) > command.RefusalsShown {
		lines = append(lines, "  …")
	}
	return lines
}

// DeviceNames are the serials of devices.
var DeviceNames = command.Listed(fleet.ListDevices, func(d fleet.Device) (string, string) { return d.Serial, d.PC + " " + presence(d) + " " + d.Health })
