package fleetcmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/fleet"
)

func deviceHistory(e *command.Env) *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use: "history SERIAL", Short: "Show what ran on a device and the states it went through",
		Example: "  weir device history R58M123ABC --limit 100\n  weir device history R58M123ABC -o json",
	}
	c.Flags().IntVar(&limit, "limit", 50, "how many runs and states to show, up to 1000")
	return command.Shows(e, c, func(ctx context.Context, s *app.Session, serial string) (fleet.DeviceHistory, error) {
		if limit < 1 || limit > 1000 {
			return fleet.DeviceHistory{}, command.Invalid("give a number from 1 to 1000", "--limit: %d", limit)
		}
		return fleet.ShowDeviceHistory.Call(ctx, s.Operations, &fleet.DevicePast{NamedDevice: fleet.NamedDevice{Serial: serial}, Limit: limit})
	}, func(h fleet.DeviceHistory) string { return h.Serial }, printHistory)
}

func printHistory(o *command.Output, h fleet.DeviceHistory) error {
	if err := o.Details([]command.Field{{"Device", h.Serial}, {"Went away", flapsSaid(h.Flaps)}}); err != nil {
		return err
	}
	if err := pastRuns.Below(o, "Runs", h.Runs); err != nil {
		return err
	}
	return pastStates.Below(o, "States", h.States)
}

var pastRuns = command.Listing[fleet.DeviceRun]{
	Name: func(r fleet.DeviceRun) string { return command.IDText(r.Task) },
	Columns: []command.Column[fleet.DeviceRun]{
		{Title: "BEGAN", Ages: true, Value: func(o *command.Output, r fleet.DeviceRun) string { return o.Ago(r.From) }},
		{Title: "JOB", Value: func(o *command.Output, r fleet.DeviceRun) string { return o.ID(r.Job) }},
		{Title: "NAME", Value: func(_ *command.Output, r fleet.DeviceRun) string { return r.JobName }},
		{Title: "ROUND", Wide: true, Value: func(_ *command.Output, r fleet.DeviceRun) string { return fmt.Sprint(r.Round) }},
		{Title: "ATTEMPT", Value: func(_ *command.Output, r fleet.DeviceRun) string { return fmt.Sprint(r.Attempt) }},
		{Title: "STATE", Value: func(_ *command.Output, r fleet.DeviceRun) string { return r.State }},
		{Title: "TOOK", Value: func(o *command.Output, r fleet.DeviceRun) string { return lasted(o, r.From, r.To) }},
		{Title: "WHY", Value: func(_ *command.Output, r fleet.DeviceRun) string {
			if r.Cause == "" {
				return r.Reason
			}
			return r.Cause
		}},
	},
}

var pastStates = command.Listing[fleet.DeviceSpan]{
	Name: func(s fleet.DeviceSpan) string { return s.State },
	Columns: []command.Column[fleet.DeviceSpan]{
		{Title: "BEGAN", Ages: true, Value: func(o *command.Output, s fleet.DeviceSpan) string { return o.Ago(s.From) }},
		{Title: "STATE", Value: func(_ *command.Output, s fleet.DeviceSpan) string { return s.State }, Paint: healthColor},
		{Title: "TOOK", Value: func(o *command.Output, s fleet.DeviceSpan) string { return lasted(o, s.From, s.To) }},
		{Title: "PC", Value: func(_ *command.Output, s fleet.DeviceSpan) string { return s.PC }},
	},
}

// lasted is how long something took, or takes by now.
func lasted(o *command.Output, from time.Time, to *time.Time) string {
	end := o.Now
	if to != nil {
		end = *to
	}
	return command.Span(max(end.Sub(from), 0).Round(time.Second))
}

func deviceUsage(e *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use: "usage SERIAL", Short: "Show how a device spent the last day and the last week: working, idle, out of use and why",
		Example: "  weir device usage R58M123ABC",
	}
	return command.Shows(e, c, func(ctx context.Context, s *app.Session, serial string) (fleet.DeviceUsage, error) {
		return fleet.ShowDeviceUsage.Call(ctx, s.Operations, &fleet.NamedDevice{Serial: serial})
	}, func(u fleet.DeviceUsage) string { return u.Serial }, func(o *command.Output, u fleet.DeviceUsage) error {
		return usageListing("").Below(o, "Device "+u.Serial, usageRows(u))
	})
}

func pcUsage(e *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use: "usage NAME", Short: "Show how the devices of a PC spent the last day and the last week",
		Example: "  weir pc usage PC-01\n  weir pc usage PC-01 -o json",
	}
	return command.Shows(e, c, func(ctx context.Context, s *app.Session, name string) (fleet.PCUsage, error) {
		return fleet.ShowPCUsage.Call(ctx, s.Operations, &fleet.NamedPC{PC: name})
	}, func(u fleet.PCUsage) string { return u.PC }, func(o *command.Output, u fleet.PCUsage) error {
		if err := usageListing("").Below(o, "PC "+u.PC, usageRows(fleet.DeviceUsage{Windows: u.Windows})); err != nil {
			return err
		}
		var rows []usageRow
		for _, d := range u.Devices {
			rows = append(rows, usageRows(d)...)
		}
		return usageListing("DEVICE").Below(o, "Devices", rows)
	})
}

// usageRow is a window of a device.
type usageRow struct {
	serial string
	fleet.Usage
}

func usageRows(u fleet.DeviceUsage) (rows []usageRow) {
	for _, w := range u.Windows {
		rows = append(rows, usageRow{u.Serial, w})
	}
	return rows
}

// usageListing shows windows; with a title for the device, too.
func usageListing(device string) command.Listing[usageRow] {
	columns := []command.Column[usageRow]{
		{Title: "WINDOW", Value: func(_ *command.Output, u usageRow) string { return u.Window }},
		{Title: "WORKING", Value: func(_ *command.Output, u usageRow) string { return share(u.Working, u.Total()) }},
		{Title: "IDLE", Value: func(_ *command.Output, u usageRow) string { return share(u.Idle, u.Total()) }},
		{Title: "RUNS", Value: func(_ *command.Output, u usageRow) string { return fmt.Sprint(u.Runs) }},
		{Title: "FAILED", Value: func(_ *command.Output, u usageRow) string { return fmt.Sprint(u.Failed) }},
		{Title: "OUT OF USE", Value: func(_ *command.Output, u usageRow) string { return outSaid(u.Usage) }},
	}
	if device != "" {
		columns = slices.Insert(columns, 0, command.Column[usageRow]{
			Title: device, Value: func(_ *command.Output, u usageRow) string { return u.serial },
		})
	}
	return command.Listing[usageRow]{Name: func(u usageRow) string { return u.serial + u.Window }, Columns: columns}
}

// share is a part of a time in percent.
func share(part, of int64) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(of))
}

// outSaid says why a device was out of use.
func outSaid(u fleet.Usage) string {
	var words []string
	for _, state := range slices.Sorted(maps.Keys(u.Out)) {
		words = append(words, state+" "+share(u.Out[state], u.Total()))
	}
	return strings.Join(words, ", ")
}
