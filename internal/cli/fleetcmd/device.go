package fleetcmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/op"
)

// Device is the command weir device.
func Device(e *command.Env) *cobra.Command {
	return e.Noun("device", "The devices that hang on PCs", []string{"devices"},
		append([]*cobra.Command{deviceList(e), deviceShow(e), deviceHistory(e), deviceUsage(e), deviceForward(e)}, deviceCommands(e)...)...)
}

func deviceList(e *command.Env) *cobra.Command {
	var page view.Page
	var f fleet.DeviceFilter
	var online, offline bool
	c := &cobra.Command{Short: "List devices: where they hang, how they are, what they do", Example: "  weir device list --pc PC-01 --watch\n  weir device list --health quarantined\n  weir device list --label model=alpha-5 --offline -o name"}
	command.ListCommand(e, c, func(_ context.Context, s *app.Session, _ []string) (l command.List[fleet.Device], err error) {
		if err := command.OneOf("health", f.Health, fleet.Healths); err != nil {
			return l, err
		}
		if online && offline {
			return l, command.Invalid("leave one of them out", "--online and --offline: no device is both")
		}
		if online || offline {
			f.Online = strconv.FormatBool(online)
		}
		shown := deviceListing
		if command.AnyGiven(c, "pc", "health", "online", "offline", "label", "search") {
			shown.Empty = []string{"No device matches.", "See them all with: weir device list"}
		}
		return command.PlainList(page, shown, func(ctx context.Context, page view.Page) ([]fleet.Device, error) {
			return devicePageOf(ctx, s, f, page)
		}), nil
	})
	flags := c.Flags()
	deviceFilterFlags(c, &f, "only")
	flags.BoolVar(&online, "online", false, "only devices that are online")
	flags.BoolVar(&offline, "offline", false, "only devices that are offline")
	flags.StringVar(&f.Search, "search", "", "only devices with this in their serial")
	command.PageFlags(c, &page, "serial")
	return c
}

// deviceFilterFlags say which devices are meant: only those, or all of those.
func deviceFilterFlags(c *cobra.Command, f *fleet.DeviceFilter, which string) {
	flags := c.Flags()
	flags.StringVar(&f.PC, "pc", "", which+" devices of this PC")
	flags.StringVar(&f.Health, "health", "", which+" devices of this health: "+strings.Join(fleet.Healths, ", "))
	flags.StringArrayVar(&f.Label, "label", nil, which+" devices with this label: `KEY=VALUE`, or a condition such as 'android>=13'; may be repeated")
	_ = c.RegisterFlagCompletionFunc("health", cobra.FixedCompletions(fleet.Healths, cobra.ShellCompDirectiveNoFileComp))
}

func devicePageOf(ctx context.Context, s *app.Session, f fleet.DeviceFilter, page view.Page) ([]fleet.Device, error) {
	found, err := fleet.ListDevices.Call(ctx, s.Operations, &fleet.ListingDevices{Paged: op.Paged{Limit: page.Limit, After: page.After}, DeviceFilter: f})
	return found.Items, err
}

var deviceListing = command.Listing[fleet.Device]{
	Name:  func(d fleet.Device) string { return d.Serial },
	Empty: []string{"There are no devices yet.", "Start an agent: weir agent --pc PC-01 --devices adb, or without phones: weir agent --pc PC-01 --simulate 10"},
	Columns: []command.Column[fleet.Device]{
		{Title: "SERIAL", Value: func(_ *command.Output, d fleet.Device) string { return d.Serial }},
		{Title: "PC", Value: func(_ *command.Output, d fleet.Device) string { return d.PC }},
		{Title: "HUB", Wide: true, Value: func(_ *command.Output, d fleet.Device) string { return d.Hub }},
		{Title: "PRESENCE", Value: func(_ *command.Output, d fleet.Device) string { return presence(d) }, Paint: presenceColor},
		{Title: "HEALTH", Value: func(_ *command.Output, d fleet.Device) string { return d.Health }, Paint: healthColor},
		{Title: "FLAPS", Wide: true, Value: func(_ *command.Output, d fleet.Device) string { return flaps(d.Flaps) }},
		{Title: "TASK", Value: func(o *command.Output, d fleet.Device) string { return o.ID(d.Task) }},
		{Title: "SINCE", Ages: true, Value: func(o *command.Output, d fleet.Device) string { return o.AgoOf(d.ClaimedAt) }},
		{Title: "TARGET", Wide: true, Value: func(_ *command.Output, d fleet.Device) string { return d.Target }},
		{Title: "LABELS", Value: func(_ *command.Output, d fleet.Device) string { return command.Labels(d.Labels) }},
		{Title: "WHY NOT", Value: func(_ *command.Output, d fleet.Device) string {
			if d.HealthNote != "" && !d.Eligible && d.Online && d.MissingAt == nil && d.ReservedBy == "" {
				return d.HealthNote
			}
			return d.Why
		}},
	},
}

// presence is whether a device is there. A server of before does not say it in a word.
func presence(d fleet.Device) string {
	switch {
	case d.Presence != "":
		return d.Presence
	case d.Online:
		return fleet.PresenceOnline
	}
	return fleet.PresenceOffline
}

// flaps is how often a device went away; nothing where it did not.
func flaps(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func flapsSaid(n int) string {
	if n == 0 {
		return ""
	}
	return command.Plural(n, "time", "times") + " within an hour"
}

// servedSaid says what it takes until a device or a unit can be served. A server of before does not say it.
func servedSaid(o *command.Output, answer string, at *time.Time) string {
	switch {
	case answer == fleet.AnswerLater && at != nil:
		return "by itself, " + o.Both(*at)
	case answer == fleet.AnswerLater:
		return "by itself, when it is back"
	case answer == fleet.AnswerPerson:
		return "when a person has acted"
	}
	return answer
}

func presenceColor(s string) string {
	switch s {
	case "online":
		return command.Green
	case "missing":
		return command.Yellow
	}
	return command.Dim
}

func healthColor(s string) string {
	switch s {
	case fleet.HealthGood:
		return command.Green
	case fleet.HealthSuspect, fleet.HealthMaintenance:
		return command.Yellow
	case fleet.HealthQuarantined:
		return command.Red
	case fleet.HealthRetired:
		return command.Dim
	}
	return command.Plain
}

// devicePage is everything about a device.
type devicePage struct {
	fleet.Device
	Runs []fleet.Unit        `json:"runs"`
	Log  []fleet.DeviceEvent `json:"log"`
}

// deviceShown is how many runs and lines a device's page shows.
const deviceShown = 20

func deviceShow(e *command.Env) *cobra.Command {
	c := &cobra.Command{Use: "show SERIAL", Short: "Show a device: presence, health and why, what ran on it, what became of it"}
	return command.Shows(e, c, readDevice, func(p devicePage) string { return p.Serial }, printDevice)
}

func readDevice(ctx context.Context, s *app.Session, serial string) (page devicePage, err error) {
	in := &fleet.DevicePast{NamedDevice: fleet.NamedDevice{Serial: serial}, Limit: deviceShown}
	if page.Device, err = fleet.ShowDevice.Call(ctx, s.Operations, &in.NamedDevice); err != nil {
		return page, err
	}
	runs, err := fleet.ListDeviceUnits.Call(ctx, s.Operations, in)
	if err != nil {
		return page, err
	}
	log, err := fleet.ListDeviceLog.Call(ctx, s.Operations, in)
	page.Runs, page.Log = runs.Items, log.Items
	return page, err
}

func printDevice(o *command.Output, p devicePage) error {
	var evidence []string
	for _, id := range p.Evidence {
		evidence = append(evidence, command.Short(id))
	}
	if err := o.Details([]command.Field{
		{"Device", p.Serial},
		{"PC", p.PC},
		{"Hub", p.Hub},
		{"Target", p.Target},
		{"Labels", command.Labels(p.Labels)},
		{"Presence", presence(p.Device) + " since " + o.Both(p.OnlineAt)},
		{"Health", p.Health + " since " + o.Both(p.HealthAt)},
		{"Until", o.BothOf(p.HealthUntil, "")},
		{"Reason", p.HealthNote},
		{"Decided by", p.HealthBy},
		{"Because of job", command.IDText(p.HealthJob)},
		{"Evidence", strings.Join(evidence, ", ")},
		{"Health task", healthTaskText(p.HealthTask)},
		{"Power command", powerText(p.HealthTask)},
		{"Health task due", checkDue(o, p)},
		{"Reserved by", p.ReservedBy},
		{"Reserved until", o.BothOf(p.ReservedUntil, "")},
		{"Reserved for", p.ReservedNote},
		{"Went away", flapsSaid(p.Flaps)},
		{"Gets no work", p.Why},
		{"Serves again", servedSaid(o, p.Answer, p.AnswerAt)},
		{"Runs now", command.IDText(p.Task)},
		{"Until at most", o.BothOf(p.Deadline, "")},
		{"Registered", o.Both(p.RegisteredAt)},
	}); err != nil {
		return err
	}
	if err := deviceRuns.Below(o, "Runs", p.Runs); err != nil {
		return err
	}
	return deviceLogListing.Below(o, "Log", p.Log)
}

// checkDue is when the health task of a device is due, if there is one.
func checkDue(o *command.Output, p devicePage) string {
	if p.HealthTask == nil {
		return ""
	}
	return o.BothOf(p.CheckAt, "")
}

// healthTaskText is a health task and the devices that it is for. Empty: there is none.
func healthTaskText(h *fleet.LabelHealth) string {
	if h == nil {
		return ""
	}
	text := strings.Join(h.Run.Argv, " ")
	if h.Timeout > 0 {
		text += ", at most " + command.Span(time.Duration(h.Timeout))
	}
	if len(h.Match) > 0 {
		text += " (for " + strings.Join(h.Match, ", ") + ")"
	}
	return text
}

// powerText is the command that switches a device off and on. Empty: there is none.
func powerText(h *fleet.LabelHealth) string {
	if h == nil {
		return ""
	}
	return commandText(h.Power)
}

// deviceRuns is unitListing with the job, where the device is known.
var deviceRuns = command.Listing[fleet.Unit]{
	Name: unitName,
	Columns: append([]command.Column[fleet.Unit]{
		{Title: "JOB", Value: func(o *command.Output, u fleet.Unit) string { return o.ID(u.Job) }},
		{Title: "NAME", Value: func(_ *command.Output, u fleet.Unit) string { return u.JobName }},
		{Title: "ROUND", Wide: true, Value: func(_ *command.Output, u fleet.Unit) string { return fmt.Sprint(u.Round) }},
	}, unitListing.Columns[1:]...),
}

var deviceLogListing = command.Listing[fleet.DeviceEvent]{
	Name: func(e fleet.DeviceEvent) string { return e.Type },
	Columns: []command.Column[fleet.DeviceEvent]{
		{Title: "WHEN", Ages: true, Value: func(o *command.Output, e fleet.DeviceEvent) string { return o.Ago(e.At) }},
		{Title: "BECAME", Value: func(_ *command.Output, e fleet.DeviceEvent) string { return e.Type }, Paint: healthColor},
		{Title: "WAS", Value: func(_ *command.Output, e fleet.DeviceEvent) string { return e.Was }},
		{Title: "BY", Value: func(_ *command.Output, e fleet.DeviceEvent) string { return e.By }},
		{Title: "WHY", Value: func(_ *command.Output, e fleet.DeviceEvent) string { return e.Note }},
	},
}
