package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/op"
)

func (e *env) device() *cobra.Command {
	return e.noun("device", "The devices that hang on PCs", []string{"devices"},
		append([]*cobra.Command{e.deviceList(), e.deviceShow()}, e.deviceCommands()...)...)
}

func (e *env) deviceList() *cobra.Command {
	var page view.Page
	var f fleet.DeviceFilter
	var online, offline bool
	c := &cobra.Command{Short: "List devices: where they hang, how they are, what they do", Example: "  weir device list --pc PC-01 --watch\n  weir device list --health quarantined\n  weir device list --label model=alpha-5 --offline -o name"}
	listCommand(e, c, func(_ context.Context, s *app.Session, _ []string) (l list[fleet.Device], err error) {
		if err := oneOf("health", f.Health, fleet.Healths); err != nil {
			return l, err
		}
		if online && offline {
			return l, invalid("leave one of them out", "--online and --offline: no device is both")
		}
		if online || offline {
			f.Online = strconv.FormatBool(online)
		}
		shown := deviceListing
		if anyGiven(c, "pc", "health", "online", "offline", "label", "search") {
			shown.empty = []string{"No device matches.", "See them all with: weir device list"}
		}
		return plainList(page, shown, func(ctx context.Context, page view.Page) ([]fleet.Device, error) {
			return devicePageOf(ctx, s, f, page)
		}), nil
	})
	flags := c.Flags()
	deviceFilterFlags(c, &f, "only")
	flags.BoolVar(&online, "online", false, "only devices that are online")
	flags.BoolVar(&offline, "offline", false, "only devices that are offline")
	flags.StringVar(&f.Search, "search", "", "only devices with this in their serial")
	pageFlags(c, &page, "serial")
	return c
}

// deviceFilterFlags say which devices are meant: only those, or all of those.
func deviceFilterFlags(c *cobra.Command, f *fleet.DeviceFilter, which string) {
	flags := c.Flags()
	flags.StringVar(&f.PC, "pc", "", which+" devices of this PC")
	flags.StringVar(&f.Health, "health", "", which+" devices of this health: "+strings.Join(fleet.Healths, ", "))
	flags.StringSliceVar(&f.Label, "label", nil, which+" devices with this label: `KEY=VALUE`; may be repeated")
	_ = c.RegisterFlagCompletionFunc("health", cobra.FixedCompletions(fleet.Healths, cobra.ShellCompDirectiveNoFileComp))
}

func devicePageOf(ctx context.Context, s *app.Session, f fleet.DeviceFilter, page view.Page) ([]fleet.Device, error) {
	found, err := fleet.ListDevices.Call(ctx, s.Operations, &fleet.ListingDevices{Paged: op.Paged{Limit: page.Limit, After: page.After}, DeviceFilter: f})
	return found.Items, err
}

var deviceListing = listing[fleet.Device]{
	name:  func(d fleet.Device) string { return d.Serial },
	empty: []string{"There are no devices yet.", "Start an agent: weir agent --pc PC-01 --devices adb, or without phones: weir agent --pc PC-01 --simulate 10"},
	columns: []column[fleet.Device]{
		{title: "SERIAL", value: func(_ *output, d fleet.Device) string { return d.Serial }},
		{title: "PC", value: func(_ *output, d fleet.Device) string { return d.PC }},
		{title: "HUB", wide: true, value: func(_ *output, d fleet.Device) string { return d.Hub }},
		{title: "PRESENCE", value: func(_ *output, d fleet.Device) string { return presence(d) }, paint: presenceColor},
		{title: "HEALTH", value: func(_ *output, d fleet.Device) string { return d.Health }, paint: healthColor},
		{title: "TASK", value: func(_ *output, d fleet.Device) string {
			if d.Task.IsZero() {
				return ""
			}
			return short(d.Task)
		}},
		{title: "SINCE", ages: true, value: func(o *output, d fleet.Device) string { return o.agoOf(d.ClaimedAt) }},
		{title: "TARGET", wide: true, value: func(_ *output, d fleet.Device) string { return d.Target }},
		{title: "LABELS", value: func(_ *output, d fleet.Device) string { return labels(d.Labels) }},
		{title: "WHY NOT", value: func(_ *output, d fleet.Device) string {
			if d.HealthNote != "" && !d.Eligible && d.Online && d.MissingAt == nil {
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

func presenceColor(s string) string {
	switch s {
	case "online":
		return green
	case "missing":
		return yellow
	}
	return dim
}

func healthColor(s string) string {
	switch s {
	case fleet.HealthGood:
		return green
	case fleet.HealthSuspect, fleet.HealthMaintenance:
		return yellow
	case fleet.HealthQuarantined:
		return red
	case fleet.HealthRetired:
		return dim
	}
	return plain
}

// devicePage is everything about a device.
type devicePage struct {
	fleet.Device
	Runs []fleet.Unit        `json:"runs"`
	Log  []fleet.DeviceEvent `json:"log"`
}

// deviceShown is how many runs and lines a device's page shows.
const deviceShown = 20

func (e *env) deviceShow() *cobra.Command {
	c := &cobra.Command{Use: "show SERIAL", Short: "Show a device: presence, health and why, what ran on it, what became of it"}
	return shows(e, c, readDevice, func(p devicePage) string { return p.Serial }, printDevice)
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

func printDevice(o *output, p devicePage) error {
	var evidence []string
	for _, id := range p.Evidence {
		evidence = append(evidence, short(id))
	}
	if err := o.details([]field{
		{"Device", p.Serial},
		{"PC", p.PC},
		{"Hub", p.Hub},
		{"Target", p.Target},
		{"Labels", labels(p.Labels)},
		{"Presence", presence(p.Device) + " since " + o.both(p.OnlineAt)},
		{"Health", p.Health + " since " + o.both(p.HealthAt)},
		{"Reason", p.HealthNote},
		{"Decided by", p.HealthBy},
		{"Because of job", idText(p.HealthJob)},
		{"Evidence", strings.Join(evidence, ", ")},
		{"Health task due", o.bothOf(p.CheckAt, "")},
		{"Gets no work", p.Why},
		{"Runs now", idText(p.Task)},
		{"Until at most", o.bothOf(p.Deadline, "")},
		{"Registered", o.both(p.RegisteredAt)},
	}); err != nil {
		return err
	}
	if err := deviceRuns.below(o, "Runs", p.Runs); err != nil {
		return err
	}
	return deviceLogListing.below(o, "Log", p.Log)
}

// deviceRuns is unitListing with the job, where the device is known.
var deviceRuns = listing[fleet.Unit]{
	name: unitName,
	columns: append([]column[fleet.Unit]{
		{title: "JOB", narrow: true, value: func(_ *output, u fleet.Unit) string { return short(u.Job) }},
		{title: "JOB", wide: true, value: func(_ *output, u fleet.Unit) string { return u.Job.String() }},
		{title: "NAME", value: func(_ *output, u fleet.Unit) string { return u.JobName }},
		{title: "ROUND", wide: true, value: func(_ *output, u fleet.Unit) string { return fmt.Sprint(u.Round) }},
	}, unitListing.columns[1:]...),
}

var deviceLogListing = listing[fleet.DeviceEvent]{
	name: func(e fleet.DeviceEvent) string { return e.Type },
	columns: []column[fleet.DeviceEvent]{
		{title: "WHEN", ages: true, value: func(o *output, e fleet.DeviceEvent) string { return o.ago(e.At) }},
		{title: "BECAME", value: func(_ *output, e fleet.DeviceEvent) string { return e.Type }, paint: healthColor},
		{title: "WAS", value: func(_ *output, e fleet.DeviceEvent) string { return e.Was }},
		{title: "BY", value: func(_ *output, e fleet.DeviceEvent) string { return e.By }},
		{title: "WHY", value: func(_ *output, e fleet.DeviceEvent) string { return e.Note }},
	},
}
