package cli

import (
	"cmp"
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

func (e *env) pc() *cobra.Command {
	return e.noun("pc", "The PCs that devices hang on", []string{"pcs"}, e.pcList(), e.pcShow(), e.pcSlots())
}

func (e *env) pcList() *cobra.Command {
	c := &cobra.Command{Short: "List PCs: how many of their devices work, should, and could", Example: "  weir pc list --watch"}
	return listCommand(e, c, func(_ context.Context, s *app.Session, _ []string) (list[fleet.PC], error) {
		return plainList(view.Page{}, pcListing, func(ctx context.Context, _ view.Page) ([]fleet.PC, error) { return allPCs(ctx, s) }), nil
	})
}

func allPCs(ctx context.Context, s *app.Session) ([]fleet.PC, error) {
	return op.Each(ctx, s.Operations, fleet.ListPCs, fleet.ListingPCs{})
}

var pcListing = listing[fleet.PC]{
	name:  func(p fleet.PC) string { return p.Name },
	empty: []string{"There are no PCs yet.", "Start an agent: weir agent --pc PC-01 --devices adb, or without phones: weir agent --pc PC-01 --simulate 10"},
	columns: []column[fleet.PC]{
		{title: "NAME", value: func(_ *output, p fleet.PC) string { return p.Name }},
		{title: "STATE", value: func(_ *output, p fleet.PC) string { return p.State }, paint: stateColor},
		{title: "RUNNING", value: func(_ *output, p fleet.PC) string { return fmt.Sprintf("%d/%d", p.Running, p.Target) }},
		{title: "SLOTS", value: func(_ *output, p fleet.PC) string { return fmt.Sprint(p.Slots) }},
		{title: "ELIGIBLE", value: func(_ *output, p fleet.PC) string { return fmt.Sprint(p.Eligible) }},
		{title: "ONLINE", value: func(_ *output, p fleet.PC) string { return fmt.Sprintf("%d/%d", p.Online, p.Devices) }},
		{title: "QUARANTINED", value: func(_ *output, p fleet.PC) string { return fmt.Sprint(p.Quarantined) }},
		{title: "REPORTED", wide: true, ages: true, value: func(o *output, p fleet.PC) string { return o.ago(p.ReportedAt) }},
		{title: "SEEN", ages: true, value: func(o *output, p fleet.PC) string { return o.ago(p.SeenAt) }},
		{title: "WHY NOT", value: func(_ *output, p fleet.PC) string { return cmp.Or(p.Why, p.Trouble) }},
	},
}

// pcPage is everything about a PC.
type pcPage struct {
	fleet.PC
	Working []fleet.Slot   `json:"working"`
	All     []fleet.Device `json:"all"`
}

func (e *env) pcShow() *cobra.Command {
	c := &cobra.Command{Use: "show NAME", Short: "Show a PC, what its slots do, and its devices"}
	return shows(e, c, readPC, func(p pcPage) string { return p.Name }, printPC)
}

func readPC(ctx context.Context, s *app.Session, name string) (page pcPage, err error) {
	in := &fleet.NamedPC{PC: name}
	if page.PC, err = fleet.ShowPC.Call(ctx, s.Operations, in); err != nil {
		return page, err
	}
	working, err := fleet.ListPCSlots.Call(ctx, s.Operations, in)
	if err != nil {
		return page, err
	}
	page.Working = working.Items
	page.All, err = devicePageOf(ctx, s, fleet.DeviceFilter{PC: name}, view.Page{Limit: 1000})
	return page, err
}

func printPC(o *output, p pcPage) error {
	slots := fmt.Sprint(p.Slots)
	if p.SetSlots != nil {
		slots += ", set by a person"
	}
	if err := o.details([]field{
		{"PC", p.Name},
		{"State", p.State},
		{"Gets no work", p.Why},
		{"Trouble", p.Trouble},
		{"Running", fmt.Sprintf("%d of %d that should, %d eligible", p.Running, p.Target, p.Eligible)},
		{"Slots", slots},
		{"Devices", fmt.Sprintf("%d, %d online, %d quarantined", p.Devices, p.Online, p.Quarantined)},
		{"Paused until", o.bothOf(p.PausedUntil, "")},
		{"Reported", o.both(p.ReportedAt)},
		{"Seen", o.both(p.SeenAt)},
	}); err != nil {
		return err
	}
	if err := slotListing.below(o, "Slots", p.Working); err != nil {
		return err
	}
	return deviceListing.below(o, "Devices", p.All)
}

var slotListing = listing[fleet.Slot]{
	name: func(s fleet.Slot) string { return s.Serial },
	columns: []column[fleet.Slot]{
		{title: "DEVICE", value: func(_ *output, s fleet.Slot) string { return s.Serial }},
		{title: "TASK", value: func(_ *output, s fleet.Slot) string { return short(s.Task) }},
		{title: "ATTEMPT", value: func(_ *output, s fleet.Slot) string { return fmt.Sprint(s.Attempt) }},
		{title: "SINCE", ages: true, value: func(o *output, s fleet.Slot) string { return o.ago(s.ClaimedAt) }},
		{title: "JOB", value: func(_ *output, s fleet.Slot) string {
			if s.Job.IsZero() {
				return "health task"
			}
			return s.JobName
		}},
	},
}

// slotsMost is how many slots a PC has at most.
const slotsMost = 1000

// asReported is the word for slots that no person sets.
const asReported = "auto"

func (e *env) pcSlots() *cobra.Command {
	return &cobra.Command{
		Use: "slots NAME NUMBER", Short: "Say how many devices of a PC may work at once", Args: e.args("NAME", "NUMBER"),
		Long: `Say how many devices of a PC may work at once, from 0 to 1000. What runs goes on.
With auto it is what the PC's agent reports, or else what the policy says.`,
		Example: "  weir pc slots PC-01 10\n  weir pc slots PC-01 auto",
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			in := &fleet.SettingSlots{NamedPC: fleet.NamedPC{PC: args[0]}}
			if args[1] != asReported {
				text := strings.TrimSpace(args[1])
				n, err := strconv.Atoi(text)
				if err != nil || n < 0 || n > slotsMost {
					return invalid("give a number from 0 to 1000, or auto", "%q is no number of slots", text)
				}
				in.Body.Slots = &n
			}
			out, err := fleet.SetSlots.Call(ctx, s.Operations, in)
			if err != nil {
				return err
			}
			p := out.PC
			said := "has " + plural(p.Slots, "slot", "slots")
			if !out.Changed {
				said += " already"
			}
			return e.output().did(clean(p.Name), p, "PC %s %s.", clean(p.Name), said)
		}),
	}
}

var pcNames = listed(fleet.ListPCs, func(p fleet.PC) (string, string) { return p.Name, fmt.Sprintf("%s, %d devices", p.State, p.Devices) })
