package fleetcmd

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/op"
)

// PC is the command weir pc.
func PC(e *command.Env) *cobra.Command {
	return e.Noun("pc", "The PCs that devices hang on", []string{"pcs"}, pcList(e), pcShow(e), pcUsage(e), pcSlots(e))
}

func pcList(e *command.Env) *cobra.Command {
	c := &cobra.Command{Short: "List PCs: how many of their devices work, should, and could", Example: "  weir pc list --watch"}
	return command.ListCommand(e, c, func(_ context.Context, s *app.Session, _ []string) (command.List[fleet.PC], error) {
		return command.PlainList(view.Page{}, pcListing, func(ctx context.Context, _ view.Page) ([]fleet.PC, error) { return allPCs(ctx, s) }), nil
	})
}

func allPCs(ctx context.Context, s *app.Session) ([]fleet.PC, error) {
	return op.Each(ctx, s.Operations, fleet.ListPCs, fleet.ListingPCs{})
}

var pcListing = command.Listing[fleet.PC]{
	Name:  func(p fleet.PC) string { return p.Name },
	Empty: []string{"There are no PCs yet.", "Start an agent: weir agent --pc PC-01 --devices adb, or without phones: weir agent --pc PC-01 --simulate 10"},
	Columns: []command.Column[fleet.PC]{
		{Title: "NAME", Value: func(_ *command.Output, p fleet.PC) string { return p.Name }},
		{Title: "STATE", Value: func(_ *command.Output, p fleet.PC) string { return p.State }, Paint: command.StateColor},
		{Title: "RUNNING", Value: func(_ *command.Output, p fleet.PC) string { return fmt.Sprintf("%d/%d", p.Running, p.Target) }},
		{Title: "SLOTS", Value: func(_ *command.Output, p fleet.PC) string { return fmt.Sprint(p.Slots) }},
		{Title: "ELIGIBLE", Value: func(_ *command.Output, p fleet.PC) string { return fmt.Sprint(p.Eligible) }},
		{Title: "ONLINE", Value: func(_ *command.Output, p fleet.PC) string { return fmt.Sprintf("%d/%d", p.Online, p.Devices) }},
		{Title: "QUARANTINED", Value: func(_ *command.Output, p fleet.PC) string { return fmt.Sprint(p.Quarantined) }},
		{Title: "REPORTED", Wide: true, Ages: true, Value: func(o *command.Output, p fleet.PC) string { return o.Ago(p.ReportedAt) }},
		{Title: "SEEN", Ages: true, Value: func(o *command.Output, p fleet.PC) string { return o.Ago(p.SeenAt) }},
		{Title: "WHY NOT", Value: func(_ *command.Output, p fleet.PC) string { return cmp.Or(p.Why, p.Trouble) }},
	},
}

// pcPage is everything about a PC.
type pcPage struct {
	fleet.PC
	Working []fleet.Slot   `json:"working"`
	All     []fleet.Device `json:"all"`
}

func pcShow(e *command.Env) *cobra.Command {
	c := &cobra.Command{Use: "show NAME", Short: "Show a PC, what its slots do, and its devices"}
	return command.Shows(e, c, readPC, func(p pcPage) string { return p.Name }, printPC)
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

func printPC(o *command.Output, p pcPage) error {
	slots := fmt.Sprint(p.Slots)
	if p.SetSlots != nil {
		slots += ", set by a person"
	}
	if err := o.Details([]command.Field{
		{"PC", p.Name},
		{"State", p.State},
		{"Gets no work", p.Why},
		{"Trouble", p.Trouble},
		{"Running", fmt.Sprintf("%d of %d that should, %d eligible", p.Running, p.Target, p.Eligible)},
		{"Slots", slots},
		{"Devices", fmt.Sprintf("%d, %d online, %d quarantined", p.Devices, p.Online, p.Quarantined)},
		{"Paused until", o.BothOf(p.PausedUntil, "")},
		{"Reported", o.Both(p.ReportedAt)},
		{"Seen", o.Both(p.SeenAt)},
	}); err != nil {
		return err
	}
	if err := slotListing.Below(o, "Slots", p.Working); err != nil {
		return err
	}
	return deviceListing.Below(o, "Devices", p.All)
}

var slotListing = command.Listing[fleet.Slot]{
	Name: func(s fleet.Slot) string { return s.Serial },
	Columns: []command.Column[fleet.Slot]{
		{Title: "DEVICE", Value: func(_ *command.Output, s fleet.Slot) string { return s.Serial }},
		{Title: "TASK", Value: func(_ *command.Output, s fleet.Slot) string { return command.Short(s.Task) }},
		{Title: "ATTEMPT", Value: func(_ *command.Output, s fleet.Slot) string { return fmt.Sprint(s.Attempt) }},
		{Title: "SINCE", Ages: true, Value: func(o *command.Output, s fleet.Slot) string { return o.Ago(s.ClaimedAt) }},
		{Title: "JOB", Value: func(_ *command.Output, s fleet.Slot) string {
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

func pcSlots(e *command.Env) *cobra.Command {
	return &cobra.Command{
		Use: "slots NAME NUMBER", Short: "Say how many devices of a PC may work at once", Args: e.Args("NAME", "NUMBER"),
		Long: `Say how many devices of a PC may work at once, from 0 to 1000. What runs goes on.
With auto it is what the PC's agent reports, or else what the policy says.`,
		Example: "  weir pc slots PC-01 10\n  weir pc slots PC-01 auto",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			in := &fleet.SettingSlots{NamedPC: fleet.NamedPC{PC: args[0]}}
			if args[1] != asReported {
				text := strings.TrimSpace(args[1])
				n, err := strconv.Atoi(text)
				if err != nil || n < 0 || n > slotsMost {
					return command.Invalid("give a number from 0 to 1000, or auto", "%q is no number of slots", text)
				}
				in.Body.Slots = &n
			}
			out, err := fleet.SetSlots.Call(ctx, s.Operations, in)
			if err != nil {
				return err
			}
			p := out.PC
			said := "has " + command.Plural(p.Slots, "slot", "slots")
			if !out.Changed {
				said += " already"
			}
			return e.Output().Did(command.Clean(p.Name), p, "PC %s %s.", command.Clean(p.Name), said)
		}),
	}
}

// PCNames are those of PCs.
var PCNames = command.Listed(fleet.ListPCs, func(p fleet.PC) (string, string) { return p.Name, fmt.Sprintf("%s, %d devices", p.State, p.Devices) })
